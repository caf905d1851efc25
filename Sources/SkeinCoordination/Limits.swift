/// Bounds on everything that comes out of a socket, each with its arithmetic.
package enum Limits {
    /// Payload of one frame. 1 MiB takes 9 ms at 1 Gbit/s: heartbeats between chunks stay on time.
    package static let framePayloadBytes = 1 << 20

    /// Room reserved for a message whose first bytes have come, and by how much it may then outgrow
    /// what has come. A peer that announces and does not send costs address space, not memory;
    /// growing eightfold copies a seventh of a message, and the old and the new room together hold
    /// less than the message will.
    static let firstReserveBytes = 16 << 20
    static let reserveGrowth = 8

    /// A message before the peer is known. The longest, `Hello`, has fewer than 300 bytes.
    package static let greetingBytes = 1024

    package static let nameBytes = 64
    package static let softwareBytes = 64

    /// NAME_MAX of Linux' file systems.
    package static let fileNameBytes = 255

    package static let fingerprintBytes = 256
    package static let reasonBytes = 512

    /// run.json's options are 2 KB.
    package static let configurationBytes = 64 << 10

    /// Files of a model: a folder of 4096 shards would be 20 TB.
    package static let modelFiles = 4096

    /// An offer's configuration, its list of files and 1 KiB for the rest.
    package static let offerBytes = configurationBytes + modelFiles * (fileNameBytes + 42) + 1024

    /// A piece of a model file: with its header it fits into one frame.
    package static let modelChunkBytes = (1 << 20) - 64

    /// A message with such a piece.
    package static let modelMessageBytes = ModelChunk.headByteCount + modelChunkBytes

    /// Pieces that a worker asks for at a time: enough to keep a line of 1 Gbit/s and 30 ms busy.
    package static let pieceWindow = 4

    /// Pieces that a worker may have asked for and not taken: twice its window.
    static let piecesAsked = 2 * pieceWindow

    /// Bytes of all pieces in memory at a coordinator: 64 pieces for all workers together. Workers that fetch at
    /// the same time share most of theirs, and 16 that share none have their whole window.
    package static let pieceBytes = 64 << 20

    /// Pieces that are read at a time: one from the disk while another one goes to the network's
    /// thread.
    static let piecesRead = 2

    /// Pieces that are kept though no connection has them, for workers that are a little behind.
    static let idlePieces = 8

    /// How long a worker may take nothing of its pieces while others wait: its network's thread reads
    /// at any time, and a line that is cut for 2.5 s is given up. After 5 s the system gives up, and
    /// says only that the connection is broken.
    static let pieceStandstill = Duration.seconds(4)

    /// What a waiting message costs besides its bytes: its place, twice for what arrays reserve, and
    /// the heads of its two arrays.
    static let queuedBytes = 256

    /// How long a peer may take nothing of what waits for it while too much waits for all.
    static let backlogStandstill = Duration.seconds(4)

    /// How long a piece may be under way while others wait: 14 kbit/s.
    static let pieceTime = Duration.seconds(600)

    /// Work that one worker holds at a time: 1024 threads, twice.
    package static let heldWork = 2048

    /// Rows of one lease: a micro-batch of one-token rows could not be larger.
    package static let leasedRows = 1 << 16

    /// Tokens of one lease; as `--max-length` and `--micro-batch-tokens` allow, together.
    package static let leasedTokens = 2 << 20

    /// A lease: its head, its rows, and for each row of a local step its place among steps and
    /// micro-batches.
    package static let leaseBytes =
        LeaseGrant.headByteCount + LocalLease.headByteCount + 20 * leasedRows + 12 * leasedTokens

    /// Rounds that a state is rebuilt from: more than there can be between two that are saved.
    package static let replayedRounds = 1024

    /// Bytes of encoded replays on their way to workers, over all of them, beyond which the next one
    /// waits. Just after a save one of an adapter of 20 million parameters has 350 MB; with nine
    /// averages as fp32 since then 1.1 GB.
    package static let replayBytes = 512 << 20

    /// Workers to which replays are under way at a time: of a line of 10 Mbit/s each gets a quarter.
    package static let replaysUnderWay = 4

    /// Multiples of the patience that a replay may take while others wait for theirs.
    package static let replayPatience = 10

    /// How often a worker may ask for one version in full: one that can never use it is broken.
    package static let wholesOfVersion = 4

    /// Times that a worker is sent what rebuilds the state of one lease: once more in case its memory
    /// failed.
    static let replaysOfLease = 2

    /// A status report: 64 workers take 20 KB.
    package static let statusBytes = 1 << 20
}
