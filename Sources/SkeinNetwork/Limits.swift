/// Bounds on what a loop and its sockets hold, and on what a server holds for its clients, each with
/// its arithmetic.
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

    // MARK: - HTTP

    /// Bytes of a request's first line: longer ones are answered with 414.
    static let requestLineBytes = 8 << 10

    /// Bytes of a request's first line and headers together. Browsers and proxies send 1 to 4 KiB.
    static let headBytes = 16 << 10

    /// Header lines of a request.
    static let headers = 64

    /// Bytes of a line that begins a chunk: its size and room for an extension, which is rare.
    static let chunkLineBytes = 256

    /// Digits of a chunk's size; zeros beyond them count as an extension.
    static let chunkDigits = 16

    /// Bytes of extensions in all chunks of a body: without it, chunks of one byte could bring 250
    /// times as many bytes as the body's limit allows.
    static let chunkExtensionBytes = 1 << 10

    /// Bytes of the trailers after a body.
    static let trailerBytes = 4 << 10

    /// Bytes read from one client of a server before the loop serves the others again.
    static let requestReadBytes = 16 << 10

    /// Bytes of further requests that are held while an answer is under way; beyond them, nothing
    /// is read. A dozen requests of a client that does not wait.
    static let pipelineBytes = 16 << 10

    /// Bytes that may wait for a client that follows events when another event comes. What is sent
    /// at once may be longer: a site that sends much waits until it has left.
    static let streamBytes = 1 << 20

    /// Bytes that wait for a client at most when it is told that there is room: what 100 Mbit/s take in
    /// 20 ms, so that a client which reads need not wait for who writes.
    static let streamRoomBytes = 256 << 10

    /// Written bytes that are kept in front of those that wait: a client that is always a little
    /// late must not let them grow, and moving the others for each write would cost more than
    /// sending them.
    static let writtenBytes = 64 << 10

    /// Clients beyond the limit that are told so and not just hung up on, each for `HTTPTimes.linger`.
    static let refusedConnections = 64

    /// Bytes of what a refused client still sends that are thrown away so that it gets its answer: four
    /// times the longest body that `skein serve` takes. A client may send all before it looks.
    static let lingerBytes = 32 << 20

    /// Bytes that a client which begins to send or to take counts as having moved (`Pace`), so that it
    /// is not the slowest before it can have done anything.
    static let paceCredit = 1 << 20

    /// Clients among which the host with most of them, or the slowest, is looked for when one must go:
    /// 10 microseconds.
    static let crowd = 256
}
