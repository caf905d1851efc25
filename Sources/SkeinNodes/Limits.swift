/// Bounds on what a node holds for its peers, each with its arithmetic.
enum Limits {
    /// How long a peer may take for its handshake.
    static let handshake = Duration.seconds(5)

    /// How long last words to somebody whose time for the handshake is over may take; part of it.
    static let strangerFlush = Duration.milliseconds(250)

    /// Connections that the system keeps for a listener until they are accepted: a fleet of 500
    /// that reconnects at once.
    static let listenBacklog: Int32 = 512

    /// Connections taken before the loop looks at the others again.
    static let acceptsPerTurn = 32

    /// How long a listener rests when the process has no descriptor left.
    static let acceptPause = Duration.milliseconds(100)

    /// Descriptors that are kept free for files: logs, ledger, checkpoints, the model's files while
    /// they are mapped, pipes, and what the libraries open.
    static let otherFiles = 256

    /// Descriptors that a node asks for: 4,096 workers, those that nobody knows yet, and files.
    static let openFiles = 4096 + strangers + otherFiles

    /// Work that other threads have posted and a loop has not begun: each of 1024 compute threads
    /// posts a result and its progress. A thread that posts more waits.
    static let postedWork = 4096

    /// Bytes read at a time from a peer that nobody knows yet.
    static let strangerReadBytes = 4 << 10

    /// Bytes read at a time of a payload, straight to where they are to stay: a quarter of a frame.
    static let readBytes = 256 << 10

    /// Bytes read at a time where headers are among them: those of a payload are copied once more.
    static let headerReadBytes = 16 << 10

    /// Bytes read at most of a connection that takes nothing any more, for why.
    static let lastWordsBytes: UInt64 = 16 << 20

    /// Bytes that wait for a peer beyond its largest message before it counts as one that does not
    /// read: two updates of an 8-billion-parameter model's adapter as bf16.
    static let pendingBytes = 64 << 20

    /// How long a peer may have more than that waiting.
    static let pendingTime = Duration.seconds(5)

    /// Times the bound that may wait for a peer however short: a burst of messages within one turn
    /// of a loop must not grow without end.
    static let pendingBurst = 4

    /// Bytes that the system takes before they can be sent: what waits there cannot be overtaken by
    /// a heartbeat. 4 ms at 1 Gbit/s.
    static let unsentBytes: Int32 = 512 << 10

    /// Bytes written to one connection before the loop looks at the others again: a frame, which takes
    /// a fifth of a millisecond.
    static let writesPerTurn = 1 << 20

    /// How long a loop carries out what its sockets are ready for before it looks at its alarms and at
    /// what was posted; the sockets that are left have their turn before the others come again.
    static let turnTime = Duration.milliseconds(10)

    /// A loop that looks at its alarms so much later than they were due was stopped, or the machine
    /// swapped: less than a heartbeat late, it judges nobody wrongly.
    static let lateTurn = Duration.milliseconds(500)

    /// How often at most it is looked after all peers which of them have sent bytes: a small part of
    /// the silence that makes one suspect.
    static let hearingInterval = Duration.milliseconds(100)

    /// How long sent bytes may stay unacknowledged before the system gives a connection up.
    static let unacknowledged = Duration.seconds(5)

    /// How long last words may take.
    static let flush = Duration.seconds(2)

    /// Bytes of a token file. 16 cannot be guessed, when they are random; more than 4096 is a file
    /// given by mistake.
    static let tokenBytes = 16...4096

    /// Bytes of a host name (RFC 1035).
    static let hostBytes = 253

    /// Connections that have not proved the token. A frame of 1 KiB and `strangerReadBytes` each, twice
    /// for what arrays reserve: 5 MiB.
    static let strangers = 512

    /// How long a worker that dials again waits for the name server before it takes the addresses that
    /// it knows.
    static let lookup = Duration.seconds(1)

    /// Lines in the log about refused strangers, one right after the other: enough to see who they are.
    static let strangerLines = 20

    /// After each of these, one line more: about 200 bytes, so 300 KB a day however many come.
    static let strangerLineInterval = Duration.seconds(60)

    /// Packed results that wait for their check, over all workers; workers keep what comes beyond
    /// it until there is room. 500 gradients of a million numbers as fp32, 3 of 160 million.
    static let uncheckedBytes = 2 << 30

    /// Bytes of an unpacked gradient up to which two are held to be hashed side by side.
    static let pairedBytes = 32 << 20

    /// Results that may wait however long they are: one is checked while the next one comes.
    static let leastUnchecked = 2

    /// Bytes that a connection moves in half a second when it carries more than heartbeats: those
    /// of a worker with 1,024 threads have 16 KiB. 0.5 Mbit/s.
    static let movingBytes: UInt64 = 32 << 10

    /// How often a worker may ask for the whole of one version: one that never can use it is broken.
    static let snapshotsOfVersion = 4

    /// Workers that a status report lists: with 550 bytes each they stay below a report's 1 MiB.
    static let statusWorkers = 1500

    /// Bytes of a model that may wait for a worker: eight pieces, twice what one asks for at a time.
    static let modelBacklogBytes = 8 << 20
}
