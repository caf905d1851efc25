import SkeinBasics

/// What a run is waiting for, with the facts, and for how long. `sentence` says it in words.
package struct Waiting: Sendable, Equatable, Codable {
    package enum Reason: Sendable, Equatable, Codable {
        /// The run is over.
        case ended
        /// The coordinator prepares the run.
        case starting
        /// No round is open; `activity` is what the coordinator does, as in `RunPhase`.
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
        /// No worker here may take the unleased pieces; `lostInSeconds` is set if `worker` is
        /// silent.
        case untaken(pieces: Int, worker: Peer, lostInSeconds: Double?)
        /// A worker that is gone has the states from which pieces of a run with local steps start; for
        /// so long the others wait before they rebuild them.
        case away(pieces: Int, worker: String, rebuiltInSeconds: Double)
    }

    package struct Peer: Sendable, Equatable, Codable {
        package var name: String
        package var address: String
        package var lastHeardSeconds: Double
    }

    package struct Shortage: Sendable, Equatable, Codable {
        /// How many more are needed to begin the round, or to continue it.
        package var missing: Int
        package var present: Int
        /// Workers that a round needs to begin.
        package var needed: Int
        package var hasBegun: Bool
        /// The first that may return of the workers that computed wrongly, and when.
        package var paused: String?
        package var pausedSeconds: Double?
        /// The worker that made progress with its model last, and how many others prepare.
        package var preparing: Preparing?
        package var othersPreparing: Int
        /// Until the coordinator gives up; nil: it does not; 0 or less: it does now.
        package var givesUpInSeconds: Double?
    }

    package struct Preparing: Sendable, Equatable, Codable {
        package var name: String
        package var address: String
        package var preparedBytes: UInt64
        /// Since `preparedBytes` last changed.
        package var progressSeconds: Double
    }

    /// What happens to a piece that a worker has.
    package enum Outlook: Sendable, Equatable, Codable {
        /// It is silent, and counts as lost after that.
        case lost(inSeconds: Double)
        case overdue(bySeconds: Double)
        /// 0 or less: any moment.
        case expected(inSeconds: Double, overdueInSeconds: Double)
        /// It has computed nothing yet, so its pace is unknown.
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
    /// For how long it has waited.
    package var seconds: Double

    package init(round: RoundLabel? = nil, reason: Reason, seconds: Double) {
        self.round = round
        self.reason = reason
        self.seconds = seconds
    }

    /// Whether nothing is missing, overdue or lost: the run goes on as it should.
    package var isWell: Bool {
        switch reason {
        case .ended, .starting, .betweenRounds, .computingHere, .closing, .checking: true
        case .computing(_, _, .expected, _), .computing(_, _, .unknown, _): true
        case .untaken(_, _, let lost): lost == nil
        case .computing, .judging, .workersMissing, .away: false
        }
    }

    /// Whom the run waits for.
    package var culprit: Culprit {
        switch reason {
        case .ended: .nobody
        case .starting, .betweenRounds, .computingHere, .closing, .checking: .coordinator
        case .workersMissing: .absentees
        case .judging(_, let worker, _), .computing(_, let worker, _, _),
            .untaken(_, let worker, _):
            .worker(worker.name)
        case .away(_, let worker, _): .worker(worker)
        }
    }
}
