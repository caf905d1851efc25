import SkeinBasics
import SkeinCoordination
import SkeinRows
import SkeinTraining

/// A round as both threads of a coordinator see it.
struct RoundWork: Sendable {
    struct Expected: Sendable {
        let tokens: Int
        /// Or pairs.
        let lossTokens: Int
    }

    let number: UInt64
    let label: RoundLabel
    let work: Work
    let step: Int
    /// Rows of each piece of work.
    let rows: [[TokenizedRow]]
    let expected: [Expected]
    let publication: ParameterPublication

    /// What is computed from the rows.
    enum Work: Sendable {
        /// With `Pairs` in a run whose loss compares answers.
        case gradient(Pairs?)
        case evaluation(Pairs?)
        case local(OuterRound)
        /// `recorded` has one entry for each piece: what an earlier start has recorded of it; nil:
        /// nothing.
        case logProbabilities(recorded: [GroupEntry?])

        var kind: WorkKind {
            switch self {
            case .gradient: .gradient
            case .evaluation: .evaluation
            case .local: .local
            case .logProbabilities: .logProbabilities
            }
        }

        /// Whether rows come in pairs of answers.
        fileprivate var comparesAnswers: Bool {
            switch self {
            case .gradient(let pairs), .evaluation(let pairs): pairs != nil
            case .local, .logProbabilities: false
            }
        }
    }

    /// How answers are compared.
    struct Pairs: Sendable {
        let tokenShare: Double
        let hasReferences: Bool
    }

    init(
        number: UInt64, label: RoundLabel, work: Work, step: Int, rows: [[TokenizedRow]],
        publication: ParameterPublication
    ) {
        if case .logProbabilities(let recorded) = work {
            precondition(recorded.count == rows.count, "one entry for each piece of work")
        }
        self.number = number
        self.label = label
        self.work = work
        self.step = step
        self.rows = rows
        expected = rows.map { rows in
            Expected(
                tokens: rows.reduce(0) { $0 + $1.ids.count },
                lossTokens: work.comparesAnswers
                    ? rows.count / 2 : rows.reduce(0) { $0 + $1.lossTokenCount })
        }
        self.publication = publication
    }

    /// Refuses a run with local steps whose rounds do not fit into leases.
    ///
    /// - Throws: `NodeError.roundTooLarge`.
    static func check(_ job: TrainingJob) throws(NodeError) {
        guard let local = job.local else { return }
        let rows = local.shape.steps * job.configuration.batchSize
        let tokens = job.plan.lengths.sorted(by: >).prefix(rows).reduce(0, +)
        let sequences = job.trainingGroups.map(\.count).sorted(by: >).prefix(rows).reduce(0, +)
        guard tokens <= SkeinCoordination.Limits.leasedTokens,
            sequences <= SkeinCoordination.Limits.leasedRows
        else { throw .roundTooLarge(tokens: tokens, rows: sequences) }
    }

    /// The round as the coordinator's state sees it.
    var forState: RoundPlan {
        var plan = RoundPlan(number: number, label: label, costs: expected.map(\.tokens))
        if case .local(let round) = work { plan.replay = round.history.averages.count }
        return plan
    }

    /// All that the result of the work at `index` is computed from.
    func inputs(_ index: Int, _ recipe: WorkRecipe) -> WorkInputs {
        guard let parameters = SHA256.Digest(publication.digest) else {
            preconditionFailure("the publisher names parameters by a SHA-256")
        }
        switch work {
        case .gradient(let pairs):
            return WorkInputs(
                recipe, parameters: parameters,
                gradientOf: MicroBatch(
                    step: step, index: index, rows: rows[index],
                    tokenShare: pairs?.tokenShare ?? 0))
        case .evaluation(let pairs):
            return WorkInputs(
                recipe, parameters: parameters, lossOf: rows[index], index: index,
                afterStep: step, tokenShare: pairs?.tokenShare ?? 0)
        case .logProbabilities:
            return WorkInputs(recipe, parameters: parameters, referencesOf: rows[index])
        case .local(let round):
            let work = round.work[index]
            return WorkInputs(
                recipe, parameters: parameters, work: work, state: round.starts[work.worker])
        }
    }

    /// The work at `index` as it is sent.
    func grant(_ index: Int, attempt: UInt32) -> LeaseGrant {
        LeaseGrant(
            key: WorkKey(round: number, index: UInt32(index)), attempt: attempt,
            work: leased(index), step: UInt32(truncatingIfNeeded: step),
            parameterVersion: publication.version, parameterDigest: publication.digest,
            rows: rows[index].map { LeaseGrant.Row($0) })
    }

    private func leased(_ index: Int) -> LeaseGrant.Work {
        func lease(_ pairs: Pairs?) -> PairLease? {
            pairs.map {
                PairLease(
                    tokenShare: $0.tokenShare,
                    references: $0.hasReferences ? rows[index].map { $0.reference ?? .nan } : [])
            }
        }
        switch work {
        case .gradient(let pairs): return .gradient(lease(pairs))
        case .evaluation(let pairs): return .evaluation(lease(pairs))
        case .logProbabilities: return .logProbabilities
        case .local(let round):
            let work = round.work[index]
            return .local(
                LocalLease(
                    state: round.starts[work.worker]?.bytes ?? LocalLease.noState,
                    wantsState: round.wantsState[index],
                    scheduledSteps: UInt64(work.scheduledSteps), steps: work.sizes))
        }
    }
}
