/// Bounds on what a loop and its sockets hold, each with its arithmetic.
enum Limits {
    /// Connections that the system queues until they are accepted: a fleet of 500 that reconnects
    /// at once.
    static let listenBacklog: Int32 = 512

    /// Connections accepted before the loop serves other descriptors again.
    static let acceptsPerTurn = 32

    /// How long a listener pauses when the process has no descriptor left.
    static let acceptPause = Duration.milliseconds(100)

    /// Work posted by other threads that a loop has not begun; a thread that posts more waits. Each
    /// of 1,024 compute threads posts a result and perhaps a request for parameters.
    static let postedWork = 4096

    /// How long a loop serves ready sockets before it looks at its alarms and at posted work; the
    /// sockets left over go first in the next turn.
    static let turnTime = Duration.milliseconds(10)

    /// A loop that is this late for its alarms was stopped, or the machine swapped. A loop that is
    /// late by less than a heartbeat judges no peer wrongly.
    static let lateTurn = Duration.milliseconds(500)

    /// How long sent bytes may stay unacknowledged before the system gives up a connection.
    static let unacknowledged = Duration.seconds(5)

    /// Unsent bytes that the system buffers: a heartbeat cannot overtake them. 4 ms at 1 Gbit/s.
    static let unsentBytes: Int32 = 512 << 10

    /// Bytes of a host name (RFC 1035).
    static let hostBytes = 253

    /// Bytes of the buffer that a loop lends for one read: a quarter of a frame between nodes.
    static let readBytes = 256 << 10
}
