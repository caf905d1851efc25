import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTraining

/// Loss and accuracy of a model or an adapter over the rows of a file, without dropout.
///
/// `measure` loads the weights, reads every row once and lets the weights go. `TrainedAdapter` has the
/// figures of a session's own rows.
public struct Evaluation: Sendable, Equatable {
    /// Mean loss of the loss tokens; nil if there are none.
    public let loss: Double?
    /// e to the power of `loss`.
    public let perplexity: Double?
    /// Share of the loss tokens that the model considers the most likely.
    public let tokenAccuracy: Double?
    /// Number of tokens whose prediction counts.
    public let lossTokens: Int
    /// Number of rows in the file.
    public let rows: Int

    /// Measures all rows of a file.
    ///
    /// - Parameters:
    ///   - model: The base model.
    ///   - adapter: The adapter to apply; nil measures the base model.
    ///   - path: A data file, or several with commas between them.
    ///   - recipe: How rows become text and tokens (with `chatTemplate`, `templateArgument` and
    ///     `templateDate`), how many tokens are computed together, and in which precision.
    ///   - machine: How this machine is used; only `threads` and `weights` matter.
    /// - Returns: Figures that do not depend on the number of threads.
    /// - Throws: `SkeinError`; `CancellationError` if the task is cancelled.
    public static func measure(
        _ model: Model, adapter: Adapter? = nil, data path: String, recipe: Recipe = Recipe(),
        machine: Machine = Machine()
    ) async throws -> Evaluation {
        try await measure(
            model, adapter: adapter, files: { try DataFiles.evaluated(path) }, recipe: recipe,
            machine: machine)
    }

    /// The same of files that are found on a thread of its own; weights do not count.
    static func measure(
        _ model: Model, adapter: Adapter?, files: @escaping @Sendable () throws -> [WeightedFile],
        recipe: Recipe, machine: Machine
    ) async throws -> Evaluation {
        try await OwnThread.run("skein-evaluate") { flag in
            try machine.check()
            let options = try recipe.checked()
            // No run has begun from an adapter here: answers are compared with the base model's.
            try options.checkReference()
            try options.chat.check(for: options.promptFormat)
            let adapted = try AdaptedModel(
                model: model.directory, adapter: adapter?.path, threads: machine.threads,
                weights: machine.values.weights)
            let encoder = try RowEncoder(
                encoder: TextEncoder(model: model.directory, template: options.chat),
                format: options.promptFormat,
                trainedTurns: options.trainOn, maximumLength: options.maxLength,
                comparesAnswers: options.preferenceLoss != nil,
                chunkLength: options.chunkLength)
            var rows = try encoder.encode(
                files: files(), fields: options.rowFields, skippingBadLines: false
            ).rows
            let engine = try adapted.engine(
                positions: rows.reduce(1) { max($0, $1.ids.count) }, compute: options.compute,
                preference: options.preferenceLoss, shouldStop: { flag.isSet })
            let threads = DecoderThreads(threadCount: adapted.threads)
            try RowEvaluation.addReferences(
                to: &rows, engine: engine, microBatchTokens: options.microBatchTokens,
                threads: threads, checkCancellation: { try flag.check() })
            let result = try RowEvaluation.run(
                rows, engine: engine, parameters: adapted.adapter?.values,
                microBatchTokens: options.microBatchTokens,
                threads: threads, checkCancellation: { try flag.check() })
            try result.checkWeights(of: adapted.model)
            return Evaluation(result)
        }
    }

    package init(_ sums: RowEvaluation) {
        loss = sums.loss
        perplexity = sums.perplexity
        tokenAccuracy = sums.tokenAccuracy
        lossTokens = sums.lossTokens
        rows = sums.rows
    }
}
