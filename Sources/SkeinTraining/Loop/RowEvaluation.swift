import Foundation
import SkeinModels
import SkeinRows
import SkeinTensors

/// Loss over rows without gradient and without dropout: validation, and `skein evaluate`.
package struct RowEvaluation: Sendable, Equatable {
    package var lossSum = 0.0
    package var lossTokens = 0
    /// Loss tokens that the model would have picked itself.
    package var correct = 0
    package var rows = 0
    /// Whether the loss is that of pairs of answers: `lossTokens` and `rows` are pairs then, and `correct`
    /// those whose chosen answer is ahead.
    package var comparesAnswers = false

    /// Mean over the loss tokens; nil when there are none, never NaN.
    package var loss: Double? { lossTokens == 0 ? nil : lossSum / Double(lossTokens) }
    /// nil for pairs of answers, which have none.
    package var perplexity: Double? { comparesAnswers ? nil : loss.map { exp($0) } }
    package var tokenAccuracy: Double? {
        lossTokens == 0 ? nil : Double(correct) / Double(lossTokens)
    }

    package init() {}

    /// Evaluates `rows`.
    ///
    /// Rows are packed in file order into batches of about `microBatchTokens` tokens, and summed in
    /// that order. The result does not depend on the number of threads.
    ///
    /// - Parameters:
    ///   - rows: encoded rows.
    ///   - engine: the model.
    ///   - parameters: the flat vector of LoRA matrices; nil: the base model alone.
    ///   - microBatchTokens: about how many tokens one thread takes at once.
    ///   - threads: that compute.
    ///   - checkCancellation: called between groups; what it throws ends the evaluation.
    /// - Returns: sums over all rows.
    /// - Throws: what `checkCancellation` throws.
    package static func run(
        _ rows: [TokenizedRow], engine: MicroBatchEngine, parameters: [Float]?,
        microBatchTokens: Int, threads: DecoderThreads,
        checkCancellation: () throws -> Void = {}
    ) throws -> RowEvaluation {
        var losses: [Int: BatchLoss] = [:]
        try forEachGroup(
            rows, engine: engine, parameters: parameters, microBatchTokens: microBatchTokens,
            threads: threads
        ) { index, _, loss in
            try checkCancellation()
            losses[index] = loss
        }
        return RowEvaluation(
            losses: losses.keys.sorted().compactMap { losses[$0] }, rows: rows.count,
            comparesAnswers: engine.preference != nil)
    }

    /// Calls `receive` with the place, the rows and the loss of each group, in any order.
    ///
    /// - Throws: what `receive` throws.
    static func forEachGroup(
        _ rows: [TokenizedRow], engine: MicroBatchEngine, parameters: [Float]?,
        microBatchTokens: Int, threads: DecoderThreads,
        receive: (Int, [TokenizedRow], BatchLoss) throws -> Void
    ) throws {
        let comparesAnswers = engine.preference != nil
        let groups = groups(
            of: rows, microBatchTokens: microBatchTokens, comparesAnswers: comparesAnswers)
        let share = comparesAnswers ? TokenizedRow.tokenShare(of: rows) : 0
        try threads.forEach(groups.count) { index, workspace, place in
            engine.loss(
                of: groups[index], tokenShare: share, parameters: parameters,
                workspace: workspace, place: place)
        } receive: { index, loss in
            guard let loss else {
                preconditionFailure("a pass without a progress cannot be abandoned")
            }
            try receive(index, groups[index], loss)
        }
    }

    /// The rows that are evaluated together, in file order: the same in one process and in a cluster.
    ///
    /// - Parameters:
    ///   - rows: in file order.
    ///   - microBatchTokens: about how many tokens a group has.
    ///   - comparesAnswers: whether each two rows are a pair of answers, which stays together.
    /// - Returns: groups that make up `rows`.
    package static func groups(
        of rows: [TokenizedRow], microBatchTokens: Int, comparesAnswers: Bool = false
    ) -> [[TokenizedRow]] {
        let size = comparesAnswers ? 2 : 1
        let lengths = stride(from: 0, to: rows.count, by: size).map { start in
            rows[start..<(start + size)].reduce(0) { $0 + $1.ids.count }
        }
        return consecutiveGroups(lengths, target: microBatchTokens).map {
            Array(rows[(size * $0.lowerBound)..<(size * $0.upperBound)])
        }
    }

    /// Adds the losses of all groups in order.
    ///
    /// - Parameters:
    ///   - losses: of the groups.
    ///   - rows: sequences of all groups; of pairs of answers two for each.
    ///   - comparesAnswers: whether they are pairs.
    package init(losses: [BatchLoss], rows: Int, comparesAnswers: Bool = false) {
        self.comparesAnswers = comparesAnswers
        self.rows = comparesAnswers ? rows / 2 : rows
        for loss in losses {
            lossSum += loss.lossSum
            lossTokens += loss.lossTokens
            correct += loss.correct
        }
    }

    /// Sum loss and sum gradient over `rows`, without dropout, grouped as `run` groups them.
    ///
    /// - Parameters:
    ///   - rows: encoded rows, at least one.
    ///   - engine: the model with the adapter's shape; its dropout and codec are not used.
    ///   - parameters: the flat vector of LoRA matrices.
    ///   - microBatchTokens: about how many tokens one thread takes at once.
    ///   - threads: that compute.
    /// - Returns: the sums, added in the order of the reduction tree.
    /// - Throws: never by itself.
    package static func gradient(
        _ rows: [TokenizedRow], engine: MicroBatchEngine, parameters: [Float],
        microBatchTokens: Int, threads: DecoderThreads
    ) throws -> GradientSum {
        let comparesAnswers = engine.preference != nil
        let groups = groups(
            of: rows, microBatchTokens: microBatchTokens, comparesAnswers: comparesAnswers)
        let share = comparesAnswers ? TokenizedRow.tokenShare(of: rows) : 0
        let plain = MicroBatchEngine(
            decoder: engine.decoder, dropout: nil, codec: .fp32, seed: 0,
            preference: engine.preference)
        var tree = ReductionTree(count: groups.count)
        let microBatches = groups.enumerated().map { index, group in
            MicroBatch(step: 0, index: index, rows: group, tokenShare: share)
        }
        try plain.gradients(of: microBatches, parameters: parameters, threads: threads) {
            tree.add($0.index, $0.sum)
        }
        guard let sum = tree.finish() else {
            preconditionFailure("the engine delivers every micro-batch of a step")
        }
        return sum
    }

    /// Groups of neighbours of at most `target` tokens, or of one row.
    static func consecutiveGroups(_ lengths: [Int], target: Int) -> [Range<Int>] {
        var groups: [Range<Int>] = []
        var start = 0
        var tokens = 0
        for (index, length) in lengths.enumerated() {
            if index > start && tokens + length > target {
                groups.append(start..<index)
                start = index
                tokens = 0
            }
            tokens += length
        }
        if start < lengths.count { groups.append(start..<lengths.count) }
        return groups
    }
}

extension RowEvaluation {
    /// Tells a damaged base model from an adapter that has diverged: names a weight that is not finite, if
    /// this loss is not and there is one.
    ///
    /// - Parameter model: the base model.
    /// - Throws: `FormatError.notFinite`, `.missingTensor`.
    package func checkWeights(of model: ModelDirectory) throws {
        guard let loss, !loss.isFinite, let found = try model.firstNotFiniteWeight() else {
            return
        }
        throw found
    }
}
