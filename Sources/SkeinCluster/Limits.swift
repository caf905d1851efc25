/// Bounds on what a node holds for its peers, each with its arithmetic.
enum Limits {
    /// How long a peer may take for its handshake.
    static let handshake = Duration.seconds(5)

    /// Time for the last message to a peer that did not finish its handshake; part of `handshake`.
    static let strangerFlush = Duration.milliseconds(250)

    /// Descriptors kept free for files: logs, ledger, checkpoints, the model's files while they are
    /// mapped, pipes, and what libraries open.
    static let otherFiles = 256

    /// Descriptors that a node asks for: 4,096 workers, strangers and files.
    static let openFiles = 4096 + strangers + otherFiles

    /// Bytes read at a time from a peer that has not proved the token.
    static let strangerReadBytes = 4 << 10

    /// Bytes of a payload read at a time, straight to their final place: a quarter of a frame.
    static let readBytes = 256 << 10

    /// Bytes read at a time where headers are among them; their payload bytes are copied again.
    static let headerReadBytes = 16 << 10

    /// Bytes read at most from a connection that can no longer be written, to learn why.
    static let lastWordsBytes: UInt64 = 16 << 20

    /// Bytes that may wait for a peer, beyond its largest message, before it counts as not reading:
    /// two updates of an 8-billion-parameter model's adapter as bf16.
    static let pendingBytes = 64 << 20

    /// How long more than that may wait while the peer takes nothing.
    static let pendingTime = Duration.seconds(5)

    /// The multiple of that bound that closes a connection at once: a burst of messages within one
    /// turn of a loop must not grow without end.
    static let pendingBurst = 4

    /// Bytes written to one connection before the loop serves the others again: a frame, which
    /// takes a fifth of a millisecond.
    static let writesPerTurn = 1 << 20

    /// The least time between a check of which peers have sent bytes and the next check by a tick:
    /// a small part of the silence that makes a peer suspect.
    static let hearingInterval = Duration.milliseconds(100)

    /// How long the last message to a peer may take.
    static let flush = Duration.seconds(2)

    /// Bytes of a token. 16 random ones cannot be guessed; a file of more than 4,096 was given by
    /// mistake.
    static let tokenBytes = 16...4096

    /// Connections that have not proved the token. Each holds a frame of 1 KiB and
    /// `strangerReadBytes`, doubled for what arrays reserve: 5 MiB in all.
    static let strangers = 512

    /// How long a worker that dials again waits for the name server before it uses the addresses
    /// that it knows.
    static let lookup = Duration.seconds(1)

    /// A line in the log at most this often when strangers are dropped for others.
    static let crowdLineInterval = Duration.seconds(60)

    /// Log lines about refused strangers in a burst: enough to see who they are.
    static let strangerLines = 20

    /// After the burst, a line per interval: about 200 bytes, 300 KB a day, however many come.
    static let strangerLineInterval = Duration.seconds(60)

    /// Bytes of packed results that wait for their check, over all workers; workers keep the others
    /// until there is room. 500 gradients of a million numbers as fp32, 3 of 160 million.
    static let uncheckedBytes = 2 << 30

    /// Bytes that wait for single peers, over all of them, beyond which those who take nothing are
    /// hung up on: the leases and answers of a hundred workers of 64 threads in a large step.
    static let backlogBytes = 64 << 20

    /// Bytes of versions of the parameters that are still being sent though there is a newer one,
    /// over all workers that take nothing: one version of any size, or 16 of a million numbers.
    static func oldVersionBytes(packedBytes: Int) -> Int { max(64 << 20, packedBytes) }

    /// Bytes of an unpacked gradient up to which two are held at a time, to be hashed side by side.
    static let pairedBytes = 32 << 20

    /// Results that may wait whatever their size: one is checked while the next one comes.
    static let leastUnchecked = 2

    /// Bytes in half a second that show that a connection carries more than heartbeats: one
    /// heartbeat of a worker with 1,024 threads has 16 KiB. 0.5 Mbit/s.
    static let movingBytes: UInt64 = 32 << 10

    /// Workers that a status report lists: at 550 bytes each they stay below its limit of 1 MiB.
    static let statusWorkers = 1500

    /// How long nothing may move in a process before its watchdog hears nothing more: no thread that
    /// works has used the processor or waited for a disk. Work that goes on never takes as long.
    static let stillness = Duration.seconds(300)
}
