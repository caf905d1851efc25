import Basics

/// What is waited for: who, since when, what happens next.
public struct Waiting: Sendable, Equatable {
    public enum Culprit: Sendable, Equatable {
        case nobody
        case coordinator
        case worker(String)
        /// Workers that are not there.
        case absentees
    }

    public var culprit: Culprit
    /// When it began.
    public var since: Duration
    /// All of it in one sentence without a full stop.
    public var sentence: String
}

/// The state of a coordinator at one moment, for `skein status`.
public struct CoordinatorSnapshot: Sendable, Equatable {
    /// A piece of the open round in a worker's hands.
    public struct Work: Sendable, Equatable {
        public var index: Int
        /// Time since a thread took it up.
        public var age: Duration
        /// From 0 to 1, as the worker last said.
        public var progress: Double
    }

    public struct Worker: Sendable, Equatable {
        /// As many of a worker's pieces are told: a status of 1,500 workers has less than 1 MiB.
        static let mostWork = 2

        public enum Condition: String, Sendable { case active, suspect, draining }

        public var name: String
        public var address: String
        public var threads: Int
        public var condition: Condition
        /// Leases, and how many of them it computes now.
        public var leases: Int
        public var computing: Int
        /// The first few of those that it computes, in the order in which they began.
        public var work: [Work]
        /// Tokens of gradients per second, over all its threads; nil before the first result.
        public var tokensPerSecond: Double?
        /// Time since it was last heard.
        public var silence: Duration
        /// Since it first joined in this term, under this name.
        public var accepted: Int
        public var refused: Int
    }

    public struct Absentee: Sendable, Equatable {
        public var name: String
        /// How much longer it is not let in.
        public var remaining: Duration
        /// Failures that count.
        public var failures: Int
    }

    public struct OpenRound: Sendable, Equatable {
        public var number: UInt64
        public var label: RoundLabel
        public var since: Duration
        public var pieces: Int
        public var accepted: Int
        public var unleased: Int
        /// Results that wait for the run's thread, the one in its hands included.
        public var unchecked: Int
        public var counters: RoundCounters
    }

    public var phase: RunPhase
    public var round: OpenRound?
    public var workers: [Worker]
    public var quarantined: [Absentee]
    public var waiting: Waiting
}

/// What happened in one round, for figures.
public struct RoundCounters: Sendable, Equatable {
    /// All leases, the following two included.
    public var leases = 0
    /// Leases of work that somebody had before.
    public var again = 0
    /// Second leases of work that somebody still had.
    public var speculative = 0
    /// Results that came second.
    public var duplicates = 0
    public var refused = 0
    /// Results of other rounds that came while this one was open.
    public var stale = 0

    public init() {}
}
