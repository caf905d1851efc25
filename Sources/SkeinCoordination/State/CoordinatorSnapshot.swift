import SkeinBasics

/// What is waited for: who, since when, what happens next.
package struct Waiting: Sendable, Equatable {
    package enum Culprit: Sendable, Equatable {
        case nobody
        case coordinator
        case worker(String)
        /// Workers that are not there.
        case absentees
    }

    package var culprit: Culprit
    /// When it began.
    package var since: Duration
    /// All of it in one sentence without a full stop.
    package var sentence: String
}

/// The state of a coordinator at one moment, for `skein status`.
package struct CoordinatorSnapshot: Sendable, Equatable {
    /// A piece of the open round in a worker's hands.
    package struct Work: Sendable, Equatable {
        package var index: Int
        /// Time since a thread took it up.
        package var age: Duration
        /// From 0 to 1, as the worker last said.
        package var progress: Double
    }

    package struct Worker: Sendable, Equatable {
        /// As many of a worker's pieces are told: a status of 1,500 workers has less than 1 MiB.
        static let mostWork = 2

        package enum Condition: String, Sendable { case active, suspect, draining }

        package var name: String
        package var address: String
        package var threads: Int
        package var condition: Condition
        /// Leases, and how many of them it computes now.
        package var leases: Int
        package var computing: Int
        /// The first few of those that it computes, in the order in which they began.
        package var work: [Work]
        /// Tokens of gradients per second, over all its threads; nil before the first result.
        package var tokensPerSecond: Double?
        /// Time since it was last heard.
        package var silence: Duration
        /// Since it first joined in this term, under this name.
        package var accepted: Int
        package var refused: Int
    }

    package struct Absentee: Sendable, Equatable {
        package var name: String
        /// How much longer it is not let in.
        package var remaining: Duration
        /// Failures that count.
        package var failures: Int
    }

    package struct RoundSummary: Sendable, Equatable {
        package var number: UInt64
        package var label: RoundLabel
        package var since: Duration
        package var pieces: Int
        package var accepted: Int
        package var unleased: Int
        /// Results that wait for the run's thread, the one in its hands included.
        package var unchecked: Int
        package var counters: RoundCounters
    }

    package var phase: RunPhase
    package var round: RoundSummary?
    package var workers: [Worker]
    package var quarantined: [Absentee]
    package var waiting: Waiting
}

/// What happened in one round, for figures.
package struct RoundCounters: Sendable, Equatable {
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
}
