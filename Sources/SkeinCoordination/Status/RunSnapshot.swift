/// What a run is doing at one moment: all that status, log and other views show of it, and its one
/// schema as JSON (docs/PROTOCOL.md, STATUS).
package struct RunSnapshot: Sendable, Equatable {
    /// How far it is.
    package struct Progress: Sendable, Equatable {
        /// The run directory.
        package var output = ""
        /// Of the coordinator; nil: one process trains alone.
        package var term: Int?
        /// Steps that are committed, of `stepCount`.
        package var step = 0
        package var stepCount = 0
        /// Of the last committed step; nil before the first of this process.
        package var loss: Double?
        package var tokensPerSecond: Double?

        package init() {}
    }

    /// How far the open round is.
    package struct Round: Sendable, Equatable, Codable {
        package var label: RoundLabel
        package var pieces: Int
        package var accepted: Int
        /// Pieces that no worker has.
        package var unleased: Int
        /// Results that wait for their check.
        package var unchecked: Int
    }

    /// A piece of the open round in a worker's hands.
    package struct Lease: Sendable, Equatable, Codable {
        package var round: UInt64?
        package var microBatch: Int
        /// Since a thread took it up.
        package var seconds: Double
        /// From 0 to 1, as the worker last said.
        package var progress: Double
    }

    package struct Worker: Sendable, Equatable {
        package enum State: String, Sendable, Codable {
            case computing, idle, suspect, draining, preparing
        }

        package var name: String
        package var address: String
        package var state: State
        /// Since its last message.
        package var lastHeardSeconds: Double
        /// Nil while it prepares.
        package var work: Work?
        /// Of the model, fetched, hashed and loaded so far; nil once it has joined.
        package var preparedBytes: UInt64?

        package init(
            name: String, address: String, state: State, lastHeardSeconds: Double,
            work: Work? = nil, preparedBytes: UInt64? = nil
        ) {
            self.name = name
            self.address = address
            self.state = state
            self.lastHeardSeconds = lastHeardSeconds
            self.work = work
            self.preparedBytes = preparedBytes
        }
    }

    /// What a worker computes.
    package struct Work: Sendable, Equatable {
        /// As many of a worker's pieces are told: a status of 1,500 workers has less than 1 MiB.
        static let mostLeases = 2

        package var threads: Int
        /// All of its leases, those that wait behind others included.
        package var leaseCount: Int
        /// The first few of those that it computes, in the order in which they began.
        package var leases: [Lease]
        /// Tokens of gradients per second, over all its threads; nil before the first result.
        package var tokensPerSecond: Double?
        /// Results since it first joined in this term, under this name.
        package var accepted: Int
        package var refused: Int
    }

    /// A worker that computed wrongly and has to stay away for a while.
    package struct Paused: Sendable, Equatable, Codable {
        /// As many are told.
        static let most = 64

        package var name: String
        package var secondsLeft: Double
        /// Failures that count.
        package var failures: Int
    }

    package var run: Progress
    /// The open one; nil: there is none.
    package var round: Round?
    package var waiting: Waiting
    /// All that are connected.
    package var workerCount: Int
    /// The first of them by name; those that prepare come last.
    package var workers: [Worker]
    package var paused: [Paused]
    /// Of the open round, or of the last one.
    package var counters: RoundCounters

    package init(
        run: Progress, round: Round? = nil, waiting: Waiting, workers: [Worker] = [],
        paused: [Paused] = [], counters: RoundCounters = RoundCounters()
    ) {
        self.run = run
        self.round = round
        self.waiting = waiting
        workerCount = workers.count
        self.workers = workers
        self.paused = paused
        self.counters = counters
    }
}

/// What happened in one round, for figures.
package struct RoundCounters: Sendable, Equatable, Codable {
    /// All leases, the following two included.
    package var leases = 0
    /// Leases of work that somebody had before.
    package var again = 0
    /// Second leases of work that somebody still had.
    package var speculative = 0
    /// Results that came second.
    package var duplicates = 0
    package var refused = 0
    /// Results of other rounds that came while this one was open.
    package var stale = 0

    package init() {}

    private enum CodingKeys: String, CodingKey {
        case leases
        case again = "releases"
        case speculative, duplicates, refused, stale
    }
}
