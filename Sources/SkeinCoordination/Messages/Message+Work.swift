import SkeinBasics

/// One piece of work of one round. Rounds are numbered from 1 within one start of a coordinator; a
/// round is a training step or a validation.
package struct WorkKey: Sendable, Hashable {
    package var round: UInt64
    /// The number of the micro-batch in its step, or of the group of rows in its validation.
    package var index: UInt32

    package init(round: UInt64, index: UInt32) {
        self.round = round
        self.index = index
    }
}

/// What to compute from the rows of a lease.
package enum WorkKind: UInt8, Sendable, CaseIterable {
    /// Loss and gradient, with dropout.
    case gradient = 1
    /// Loss and correct tokens, without dropout.
    case evaluation = 2
    /// What a logical worker does in a round: AdamW steps, and the coded change of the parameters.
    case local = 3
    /// The log-probability of each row's loss tokens under the reference model, without dropout.
    case logProbabilities = 4
}

/// Work for a worker, with all that it needs besides model, configuration and parameters.
package struct LeaseGrant: Sendable, Equatable {
    package var key: WorkKey
    /// How often this work has been leased, from 1.
    package var attempt: UInt32
    package var work: Work
    /// The optimizer step, from 1: addresses random numbers.
    package var step: UInt32
    /// The parameters to compute with.
    package var parameterVersion: UInt64
    /// Their SHA-256: a worker that has others under this version does not compute.
    package var parameterDigest: [UInt8]
    package var rows: [Row]

    /// What is computed from the rows, and what that needs besides them.
    package enum Work: Sendable, Equatable {
        /// With `PairLease` of a run whose loss compares answers.
        case gradient(PairLease?)
        case evaluation(PairLease?)
        case local(LocalLease)
        case logProbabilities

        package var kind: WorkKind {
            switch self {
            case .gradient: .gradient
            case .evaluation: .evaluation
            case .local: .local
            case .logProbabilities: .logProbabilities
            }
        }

        /// How the loss is that of pairs of answers; nil: it is not.
        package var pairs: PairLease? {
            switch self {
            case .gradient(let pairs), .evaluation(let pairs): pairs
            case .local, .logProbabilities: nil
            }
        }
    }

    /// A tokenized row.
    package struct Row: Sendable, Equatable {
        /// Its number in the data file: addresses random numbers.
        package var number: UInt32
        package var ids: [Int32]
        /// Ascending, disjoint, non-empty ranges in 1 ..< ids.count.
        package var targets: [Range<Int>]

        package init(number: UInt32, ids: [Int32], targets: [Range<Int>]) {
            self.number = number
            self.ids = ids
            self.targets = targets
        }
    }

    package init(
        key: WorkKey, attempt: UInt32, work: Work, step: UInt32, parameterVersion: UInt64,
        parameterDigest: [UInt8], rows: [Row]
    ) {
        self.key = key
        self.attempt = attempt
        self.work = work
        self.step = step
        self.parameterVersion = parameterVersion
        self.parameterDigest = parameterDigest
        self.rows = rows
    }
}

/// What a loss of pairs of answers needs besides their rows, of which each two are a pair.
package struct PairLease: Sendable, Equatable {
    /// Pairs of the whole step, or evaluation, to its chosen tokens; 0 ... 1.
    package var tokenShare: Double
    /// The log-probability of each row's loss tokens under the reference model, at most 0; empty where the loss
    /// does not read it.
    package var references: [Double]

    package init(tokenShare: Double, references: [Double]) {
        self.tokenShare = tokenShare
        self.references = references
    }
}

/// The local steps of a lease.
package struct LocalLease: Sendable, Equatable {
    /// SHA-256 of the logical worker's state, from which they start; zeros before its first round.
    package var state: [UInt8]
    /// Whether the result must bring the state along.
    package var wantsState: Bool
    /// Local steps that the learning rate's schedule counts in the whole run.
    package var scheduledSteps: UInt64
    /// For each step, for each of its micro-batches, how many of the rows it has, in order.
    package var steps: [[Int]]

    package init(state: [UInt8], wantsState: Bool, scheduledSteps: UInt64, steps: [[Int]]) {
        self.state = state
        self.wantsState = wantsState
        self.scheduledSteps = scheduledSteps
        self.steps = steps
    }

    /// Names the state before the first round.
    package static let noState = [UInt8](repeating: 0, count: 32)
}

/// A worker that lacks the state of a lease asks for what rebuilds it.
package struct StateRequest: Sendable, Equatable {
    package var key: WorkKey

    package init(key: WorkKey) {
        self.key = key
    }
}

/// The rounds of a logical worker since its state was saved: who computes them has its state.
package struct StateReplay: Sendable, Equatable {
    /// The lease that needs the state.
    package var key: WorkKey
    /// The round after which the state was saved; 0: the run's beginning.
    package var round: UInt32
    /// AdamW steps that the saved state has done.
    package var stepsDone: UInt64
    package var scheduledSteps: UInt64
    /// The saved state, packed; empty at the beginning.
    package var state: [UInt8]
    /// Parameters and outer momentum after that round, packed.
    package var outer: [UInt8]
    /// The rounds since, in order.
    package var rounds: [Round]

    package struct Round: Sendable, Equatable {
        /// The logical worker's rows; none: it sat the round out.
        package var rows: [LeaseGrant.Row]
        /// As `LocalLease.steps`.
        package var steps: [[Int]]
        /// The coded average of the round.
        package var average: [UInt8]

        package init(rows: [LeaseGrant.Row], steps: [[Int]], average: [UInt8]) {
            self.rows = rows
            self.steps = steps
            self.average = average
        }
    }

    package init(
        key: WorkKey, round: UInt32, stepsDone: UInt64, scheduledSteps: UInt64, state: [UInt8],
        outer: [UInt8], rounds: [Round]
    ) {
        self.key = key
        self.round = round
        self.stepsDone = stepsDone
        self.scheduledSteps = scheduledSteps
        self.state = state
        self.outer = outer
        self.rounds = rounds
    }
}

/// The coordinator no longer needs this work.
package struct Cancellation: Sendable, Equatable {
    package var key: WorkKey

    package init(key: WorkKey) {
        self.key = key
    }
}

/// The result of a lease.
package struct WorkResult: Sendable, Equatable {
    package var key: WorkKey
    package var attempt: UInt32
    package var kind: WorkKind
    package var tokens: UInt32
    package var lossTokens: UInt32
    /// Loss tokens that the model would have picked; 0 for a gradient.
    package var correct: UInt32
    package var lossSum: Double
    /// SHA-256 of the rounded gradient's canonical bytes, or of the coded change's; zeros for an
    /// evaluation.
    package var digest: [UInt8]
    /// SHA-256 of all that it was computed from: `WorkInputs`. 32 bytes.
    package var inputs: [UInt8]
    /// The gradient, packed by the run's codec; empty for an evaluation; of local steps what
    /// `LocalPayload` says; log-probabilities as they are, 8 bytes each.
    package var payload: [UInt8]

    package init(
        key: WorkKey, attempt: UInt32, kind: WorkKind, tokens: UInt32, lossTokens: UInt32,
        correct: UInt32, lossSum: Double, digest: [UInt8], inputs: [UInt8], payload: [UInt8]
    ) {
        self.key = key
        self.attempt = attempt
        self.kind = kind
        self.tokens = tokens
        self.lossTokens = lossTokens
        self.correct = correct
        self.lossSum = lossSum
        self.digest = digest
        self.inputs = inputs
        self.payload = payload
    }
}

/// What the coordinator made of a result.
package struct ResultAnswer: Sendable, Equatable {
    package enum Verdict: UInt8, Sendable, CaseIterable {
        case accepted = 1
        /// Another worker's result for the same work came first.
        case duplicate = 2
        /// Its step or term is over.
        case stale = 3
        /// It is not what this work must give; `detail` says why.
        case refused = 4
    }

    package var key: WorkKey
    package var verdict: Verdict
    package var detail: String

    package init(key: WorkKey, verdict: Verdict, detail: String = "") {
        self.key = key
        self.verdict = verdict
        self.detail = detail
    }
}

/// Parameters of the adapter, whole or as the difference from the version before.
package struct ParameterUpdate: Sendable, Equatable {
    /// Versions are numbered from 1 within one start of a coordinator.
    package var version: UInt64
    /// The version that `payload` is a difference from; 0: it is complete.
    package var base: UInt64
    /// SHA-256 of the parameters of `version` as fp32, little endian.
    package var digest: [UInt8]
    package var payload: [UInt8]

    package init(version: UInt64, base: UInt64, digest: [UInt8], payload: [UInt8]) {
        self.version = version
        self.base = base
        self.digest = digest
        self.payload = payload
    }
}

/// A worker that cannot use an update asks for the whole.
package struct ParameterRequest: Sendable, Equatable {
    package var version: UInt64

    package init(version: UInt64) {
        self.version = version
    }
}

/// A sign of life, sent by both sides whatever else is queued.
package struct Heartbeat: Sendable, Equatable {
    /// What is being computed; empty from a coordinator.
    package var computing: [Progress]
    /// Bytes of memory that the process has in use; 0 when unknown.
    package var residentBytes: UInt64
    /// How many bytes of the model a worker that prepares has fetched, hashed and loaded so far,
    /// counted once for each of these. Any change is progress; 0 at all other times.
    package var preparedBytes: UInt64

    package struct Progress: Sendable, Equatable {
        package var key: WorkKey
        /// How much of it is done, in thousandths.
        package var thousandths: UInt16

        package init(key: WorkKey, thousandths: UInt16) {
            self.key = key
            self.thousandths = thousandths
        }
    }

    package init(
        computing: [Progress] = [], residentBytes: UInt64 = 0, preparedBytes: UInt64 = 0
    ) {
        self.computing = computing
        self.residentBytes = residentBytes
        self.preparedBytes = preparedBytes
    }
}

/// An orderly goodbye.
package struct Leave: Sendable, Equatable {
    package enum Reason: UInt8, Sendable, CaseIterable {
        /// The worker was asked to stop; it has handed in what it could.
        case draining = 1
        /// The run is complete.
        case complete = 2
        /// The coordinator stops; it may come back, and continue from a checkpoint.
        case interrupted = 3
        /// The run failed; `Leave.detail` says why.
        case failed = 4
    }

    package var reason: Reason
    package var detail: String

    package init(reason: Reason, detail: String = "") {
        self.reason = reason
        self.detail = detail
    }
}

/// The coordinator's state, as `skein status` shows it.
package struct StatusReport: Sendable, Equatable {
    /// A JSON object; docs/PROTOCOL.md names its fields.
    package var json: [UInt8]

    package init(json: [UInt8]) {
        self.json = json
    }
}
