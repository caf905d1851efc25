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
    let kind: WorkKind
    let step: Int
    /// Rows of each piece of work.
    let rows: [[TokenizedRow]]
    let expected: [Expected]
    let publication: ParameterPublication
    /// Of a round with local steps.
    let local: OuterRound?
    /// Of a round whose loss compares answers.
    let pairs: Pairs?
    /// What the run has recorded of each piece, from an earlier start; empty: of none.
    let recorded: [GroupEntry?]

    /// How answers are compared.
    struct Pairs: Sendable {
        let tokenShare: Double
        let hasReferences: Bool
    }

    init(
        number: UInt64, label: RoundLabel, kind: WorkKind, step: Int, rows: [[TokenizedRow]],
        publication: ParameterPublication, local: OuterRound? = nil, pairs: Pairs? = nil,
        recorded: [GroupEntry?] = []
    ) {
        precondition(recorded.isEmpty || recorded.count == rows.count, "one entry for each piece")
        self.local = local
        self.recorded = recorded
        self.pairs = pairs
        self.number = number
        self.label = label
        self.kind = kind
        self.step = step
        self.rows = rows
        expected = rows.map { rows in
            Expected(
                tokens: rows.reduce(0) { $0 + $1.ids.count },
                lossTokens: pairs == nil
                    ? rows.reduce(0) { $0 + $1.lossTokenCount } : rows.count / 2)
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
        RoundPlan(
            number: number, label: label, costs: expected.map(\.tokens),
            replay: local?.history.averages.count)
    }

    /// All that the result of the work at `index` is computed from.
    func inputs(_ index: Int, _ recipe: WorkRecipe) -> WorkInputs {
        guard let parameters = SHA256.Digest(publication.digest) else {
            preconditionFailure("the publisher names parameters by a SHA-256")
        }
        let tokenShare = pairs?.tokenShare ?? 0
        switch kind {
        case .gradient:
            return WorkInputs(
                recipe, parameters: parameters,
                gradientOf: MicroBatch(
                    step: step, index: index, rows: rows[index], tokenShare: tokenShare))
        case .evaluation:
            return WorkInputs(
                recipe, parameters: parameters, lossOf: rows[index], index: index,
                afterStep: step, tokenShare: tokenShare)
        case .logProbabilities:
            return WorkInputs(recipe, parameters: parameters, referencesOf: rows[index])
        case .local:
            guard let local else { preconditionFailure("a round with local steps has its work") }
            let work = local.work[index]
            return WorkInputs(
                recipe, parameters: parameters, work: work, state: local.starts[work.worker])
        }
    }

    /// The work at `index` as it is sent.
    func grant(_ index: Int, attempt: UInt32) -> LeaseGrant {
        LeaseGrant(
            key: WorkKey(round: number, index: UInt32(index)), attempt: attempt,
            kind: kind, step: UInt32(truncatingIfNeeded: step),
            parameterVersion: publication.version, parameterDigest: publication.digest,
            rows: rows[index].map { LeaseGrant.Row($0) },
            local: local.map { local in
                let work = local.work[index]
                return LocalLease(
                    state: local.starts[work.worker]?.bytes ?? LocalLease.noState,
                    wantsState: local.wantsState[index],
                    scheduledSteps: UInt64(work.scheduledSteps), steps: work.sizes)
            },
            pairs: pairs.map { pairs in
                PairLease(
                    tokenShare: pairs.tokenShare,
                    references: pairs.hasReferences
                        ? rows[index].map { $0.reference ?? .nan } : [])
            })
    }
}
