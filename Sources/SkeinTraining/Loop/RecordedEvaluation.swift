import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTensors

/// What the training loop asks for: the loss of rows with parameters.
package struct EvaluationRequest: Sendable {
    package let rows: [TokenizedRow]
    /// After which step; 0: before the first.
    package let step: Int
    /// The flat vector of LoRA matrices; of a run with local steps, the outer momentum after it, as
    /// such a run names and sends them (`OuterState`).
    package let state: [Float]
    /// Length of the vector.
    private let count: Int

    init(rows: [TokenizedRow], step: Int, state: [Float], count: Int) {
        self.rows = rows
        self.step = step
        self.state = state
        self.count = count
    }

    package var parameters: [Float] {
        state.count == count ? state : Array(state[..<count])
    }
}

/// The loss of rows, and who has computed which group of them, for the ledger.
package struct RecordedEvaluation: Sendable {
    package var evaluation: RowEvaluation
    /// In the order of `RowEvaluation.groups`; empty where that is not recorded.
    package var groups: [MicroBatchResult]

    /// - Parameters:
    ///   - groups: the result of each group of rows, in order.
    ///   - rows: sequences of all groups; of pairs of answers two for each.
    ///   - comparesAnswers: whether they are pairs.
    package init(groups: [MicroBatchResult], rows: Int, comparesAnswers: Bool) {
        evaluation = RowEvaluation(
            losses: groups.map(\.loss), rows: rows, comparesAnswers: comparesAnswers)
        self.groups = groups
    }

    package init(_ evaluation: RowEvaluation) {
        self.evaluation = evaluation
        groups = []
    }

    /// Evaluates rows on threads of this process.
    ///
    /// - Parameters:
    ///   - request: what to evaluate.
    ///   - recipe: of the run.
    ///   - engine: the model.
    ///   - microBatchTokens: about how many tokens one thread takes at once.
    ///   - threads: that compute.
    ///   - checkCancellation: called after each group; what it throws ends the evaluation.
    /// - Returns: sums over all rows, the same for any number of threads.
    /// - Throws: what `checkCancellation` throws.
    package static func run(
        _ request: EvaluationRequest, recipe: WorkRecipe, engine: MicroBatchEngine,
        microBatchTokens: Int, threads: DecoderThreads,
        checkCancellation: () throws -> Void = {}
    ) throws -> RecordedEvaluation {
        let comparesAnswers = engine.preference != nil
        let rows = request.rows
        let name = GradientCodec.digest(of: request.state)
        let share = comparesAnswers ? TokenizedRow.tokenShare(of: rows) : 0
        var results: [MicroBatchResult] = []
        try RowEvaluation.forEachGroup(
            rows, engine: engine, parameters: request.parameters,
            microBatchTokens: microBatchTokens, threads: threads
        ) { index, group, loss in
            var result = MicroBatchResult(
                index: index,
                sum: GradientSum(
                    tokens: group.reduce(0) { $0 + $1.ids.count }, lossTokens: loss.lossTokens,
                    lossSum: loss.lossSum, gradient: []),
                correct: loss.correct, digest: SHA256.digest(of: []),
                worker: WorkerName.own, attempt: 1)
            result.inputs = WorkInputs(
                recipe, parameters: name, lossOf: group, index: index, afterStep: request.step,
                tokenShare: share)
            results.append(result)
            try checkCancellation()
        }
        results.sort { $0.index < $1.index }
        return RecordedEvaluation(
            groups: results, rows: rows.count, comparesAnswers: comparesAnswers)
    }
}
