import SkeinBasics

/// What a run is waiting for: the reason with its facts, and for how long. `sentence` says it in words.
package struct Waiting: Sendable, Equatable, Codable {
    package enum Reason: Sendable, Equatable, Codable {
        /// The run is over.
        case ended
        /// The coordinator gets the run ready.
        case starting
        /// No round is open; `activity` is what the coordinator does, as `RunPhase` has it.
        case betweenRounds(activity: String)
        /// This process computes the step itself: a run without a cluster.
        case computingHere
        /// Every piece of the round is accepted.
        case closing
        /// Two results of a piece differ, and a third worker computes it.
        case judging(piece: Int, worker: Peer, suspects: [String])
        /// Fewer workers are here than the round needs.
        case workersMissing(shortage: Shortage)
        /// A worker computes a piece.
        case computing(piece: Int, worker: Peer, outlook: Outlook, elsewhere: Elsewhere)
        /// The coordinator checks a result, the oldest of `unchecked`.
        case checking(piece: Int, worker: String, unchecked: Int)
        /// Nobody who is here may take the rest now; `lostInSeconds` when `worker` is silent.
        case untaken(pieces: Int, worker: Peer, lostInSeconds: Double?)
    }

    package struct Peer: Sendable, Equatable, Codable {
        package var name: String
        package var address: String
        package var lastHeardSeconds: Double
    }

    package struct Shortage: Sendable, Equatable, Codable {
        /// How many more are needed to begin the round, or to go on with it.
        package var missing: Int
        package var present: Int
        /// For a round to begin.
        package var needed: Int
        package var hasBegun: Bool
        /// A worker that computed wrongly, and when it may return: the first of them.
        package var paused: String?
        package var pausedSeconds: Double?
        /// The worker on its way in that made progress last, and how many others there are.
        package var preparing: Preparing?
        package var othersPreparing: Int
        /// Until the coordinator gives up; nil: it does not. At most 0 when it does now.
        package var givesUpInSeconds: Double?
    }

    package struct Preparing: Sendable, Equatable, Codable {
        package var name: String
        package var address: String
        package var preparedBytes: UInt64
        /// Since that last changed.
        package var progressSeconds: Double
    }

    /// What happens to a piece that a worker has.
    package enum Outlook: Sendable, Equatable, Codable {
        /// It is silent, and counts as lost then.
        case lost(inSeconds: Double)
        case overdue(bySeconds: Double)
        /// Not above 0: any moment.
        case expected(inSeconds: Double, overdueInSeconds: Double)
        /// It has computed nothing yet that would tell its pace.
        case unknown(overdueInSeconds: Double)
    }

    /// Who else could compute that piece.
    package enum Elsewhere: Sendable, Equatable, Codable {
        case computed(by: String)
        case anotherWorker
        case nobody
    }

    package enum Culprit: Sendable, Equatable {
        case nobody
        case coordinator
        case worker(String)
        /// Workers that are not there.
        case absentees
    }

    /// The open round; nil: there is none.
    package var round: RoundLabel?
    package var reason: Reason
    /// For how long.
    package var seconds: Double

    package init(round: RoundLabel? = nil, reason: Reason, seconds: Double) {
        self.round = round
        self.reason = reason
        self.seconds = seconds
    }

    /// Who it is that the run waits for.
    package var culprit: Culprit {
        switch reason {
        case .ended: .nobody
        case .starting, .betweenRounds, .computingHere, .closing, .checking: .coordinator
        case .workersMissing: .absentees
        case .judging(_, let worker, _), .computing(_, let worker, _, _),
            .untaken(_, let worker, _):
            .worker(worker.name)
        }
    }
}
