/// What a run is doing at one moment: everything that status, log and other views show of it, in
/// one JSON schema (docs/PROTOCOL.md, STATUS).
package struct RunSnapshot: Sendable, Equatable {
    /// How far the run is.
    package struct Progress: Sendable, Equatable {
        /// The run directory.
        package var output = ""
        /// The coordinator's term; nil: one process trains alone.
        package var term: Int?
        /// The first step for which workers with other engines were admitted; nil: never.
        package var otherEnginesFromStep: Int?
        /// Steps that are committed, of `stepCount`.
        package var step = 0
        package var stepCount = 0
        /// The plan's epochs; nil while they are not known.
        package var epochCount: Int?
        /// The epoch of the last committed step; nil before this process's first.
        package var epoch: Int?
        package var loss: Double?
        package var tokensPerSecond: Double?
        package var learningRate: Double?
        package var gradientNorm: Double?
        /// The loss of the last validation that had rows.
        package var validationLoss: Double?
        /// The loss of the best validation, and after which step.
        package var bestValidationLoss: Double?
        package var bestStep: Int?
        /// The loss of the validation before the first step; nil: it is not known.
        package var startValidationLoss: Double?
        /// Whether the best validation is better than that one; nil: one of them is missing.
        package var isImprovement: Bool?
        /// The tokens of all committed steps of the plan, and the loss tokens among them.
        package var tokens = 0
        package var lossTokens = 0
        /// Lines of the ledger: micro-batches of committed steps.
        package var microBatches = 0
        /// Until the last step at this process's pace; nil before its first.
        package var etaSeconds: Double?
        /// Since this process began its first step; nil before that.
        package var elapsedSeconds: Double?

        package init() {}
    }

    /// How far the open round is.
    package struct RoundProgress: Sendable, Equatable, Codable {
        package var label: RoundLabel
        package var pieces: Int
        package var accepted: Int
        /// Pieces that no worker has.
        package var unleased: Int
        /// Results that wait for their check.
        package var unchecked: Int
    }

    /// A piece of the open round that a worker computes.
    package struct Lease: Sendable, Equatable, Codable {
        package var round: UInt64?
        package var microBatch: Int
        /// Since a thread started it.
        package var seconds: Double
        /// From 0 to 1, as last reported.
        package var progress: Double
    }

    package struct Worker: Sendable, Equatable {
        package enum State: String, Sendable, Codable, CaseIterable {
            case computing, idle, suspect, draining, preparing
        }

        package var name: String
        package var address: String
        package var state: State
        /// Since its last message.
        package var lastHeardSeconds: Double
        /// nil while it prepares.
        package var work: Work?
        /// Bytes of the model fetched, hashed and loaded so far; nil once it has joined.
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
        /// At most this many are listed, so that a status of 1,500 workers is below 1 MiB.
        static let mostLeases = 2

        package var threads: Int
        /// All of its leases, including those that wait behind others.
        package var leaseCount: Int
        /// The first few that it computes, in the order in which they began.
        package var leases: [Lease]
        /// Tokens of gradients per second, over all its threads; nil before the first result.
        package var tokensPerSecond: Double?
        /// Results since it first joined in this term, under this name.
        package var accepted: Int
        package var refused: Int
        /// Connections of this name that were lost.
        package var losses = 0
    }

    /// A worker that has left or was lost, and has not returned.
    package struct Absent: Sendable, Equatable, Codable {
        /// At most this many are listed, the latest ones.
        static let most = 64

        package var name: String
        package var address: String
        /// false: it said goodbye.
        package var isLost: Bool
        package var reason: String
        /// Since it was last here.
        package var seconds: Double
        package var accepted: Int
        package var refused: Int
        package var losses: Int
    }

    /// What the process that shows this uses.
    package struct Process: Sendable, Equatable, Codable {
        package var processorSeconds: Double?
        package var residentBytes: UInt64?
        package var peakResidentBytes: UInt64?

        package init(
            processorSeconds: Double?, residentBytes: UInt64?, peakResidentBytes: UInt64?
        ) {
            self.processorSeconds = processorSeconds
            self.residentBytes = residentBytes
            self.peakResidentBytes = peakResidentBytes
        }
    }

    /// A worker that computed wrongly and must stay away for a while.
    package struct Paused: Sendable, Equatable, Codable {
        /// At most this many are listed.
        static let most = 64

        package var name: String
        package var secondsLeft: Double
        /// Failures that count for the pause.
        package var failures: Int
    }

    package var run: Progress
    /// The open round; nil: there is none.
    package var round: RoundProgress?
    package var waiting: Waiting
    /// All that are connected.
    package var workerCount: Int
    /// The first ones by name; those that prepare come last.
    package var workers: [Worker]
    package var paused: [Paused]
    /// The counters of the open round, or of the last one.
    package var counters: RoundCounters
    /// The sums over all rounds of this term.
    package var totals: RoundCounters
    package var absent: [Absent]
    package var process: Process?

    package init(
        run: Progress, round: RoundProgress? = nil, waiting: Waiting, workers: [Worker] = [],
        paused: [Paused] = [], counters: RoundCounters = RoundCounters(),
        totals: RoundCounters = RoundCounters(), absent: [Absent] = [], process: Process? = nil
    ) {
        self.run = run
        self.round = round
        self.waiting = waiting
        workerCount = workers.count
        self.workers = workers
        self.paused = paused
        self.counters = counters
        self.totals = totals
        self.absent = absent
        self.process = process
    }
}

/// What happened in one round, for figures.
package struct RoundCounters: Sendable, Equatable, Codable {
    /// All leases, including the next two.
    package var leases = 0
    /// Leases of work that had been leased before.
    package var again = 0
    /// Second leases of work that another worker still had.
    package var speculative = 0
    /// Results that came second.
    package var duplicates = 0
    package var refused = 0
    /// Results of other rounds that came while this one was open.
    package var stale = 0

    package init() {}

    /// Adds those of another round.
    mutating func add(_ other: RoundCounters) {
        leases += other.leases
        again += other.again
        speculative += other.speculative
        duplicates += other.duplicates
        refused += other.refused
        stale += other.stale
    }

    private enum CodingKeys: String, CodingKey {
        case leases
        case again = "releases"
        case speculative, duplicates, refused, stale
    }
}
