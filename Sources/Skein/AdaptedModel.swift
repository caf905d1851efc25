import Foundation
import SkeinFormats
import SkeinModels
import SkeinText
import SkeinTraining

/// A model with or without an adapter, opened for use and not for training.
package struct AdaptedModel: Sendable {
    package let model: ModelDirectory
    /// nil: the base model.
    package let adapter: AdapterParameters?
    package let threads: Int
    private let weights: ResidenceChoice

    /// Opens and checks the adapter's files; no weight of the model is loaded yet.
    ///
    /// - Parameters:
    ///   - model: the base model.
    ///   - directory: of the adapter; nil for none.
    ///   - threads: nil: one for each processor.
    ///   - weights: where an engine holds them.
    /// - Throws: `FormatError`, `FileError`, `AdapterError`.
    package init(
        model: ModelDirectory, adapter directory: String?, threads: Int?, weights: ResidenceChoice
    ) throws {
        self.model = model
        self.threads = threads ?? ProcessInfo.processInfo.activeProcessorCount
        self.weights = weights
        adapter = try directory.map { directory in
            let files = try AdapterFiles.read(directory) {
                try $0.check(against: model.configuration)
            }
            return try AdapterParameters(files: files, model: model.configuration)
        }
    }

    /// Loads the weights for evaluation.
    ///
    /// - Parameters:
    ///   - positions: tokens of the longest sequence that will be read.
    ///   - compute: of the products with frozen weights.
    ///   - shouldStop: asked while they are loaded; true ends it with a `CancellationError`.
    /// - Returns: an engine of the base model with the adapter's shape.
    /// - Throws: `FormatError`.
    package func engine(
        positions: Int, compute: ComputeType = .fp32,
        shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws -> MicroBatchEngine {
        var configuration = TrainingConfiguration()
        configuration.compute = compute
        configuration.dropout = 0
        return try MicroBatchEngine(
            model: model, adapter: adapter?.shape, configuration: configuration,
            residence: weights.residence(of: model, compute: configuration.compute),
            positions: positions, threads: threads, progress: { _ in !shouldStop() })
    }

    /// The model's tokenizer, which has no id that the model has no embedding for.
    ///
    /// - Throws: `TokenizerError`, `VocabularyError`.
    package func tokenizer() throws -> Tokenizer {
        let tokenizer = try Tokenizer(model: model.raw)
        try VocabularyError.check(tokenizer, against: model)
        return tokenizer
    }
}

extension AdaptedModel {
    /// What the model reads of a prompt, and how many tokens its answer may have.
    package struct Prompt: Sendable, Equatable {
        package let tokens: [Int32]
        /// At most what was wanted, and no more than the model's context has room for.
        package let maximumTokens: Int
    }

    /// A prompt in the model's chat template, or as it stands. Without a template the end token
    /// follows it, which is how training puts it.
    ///
    /// - Parameters:
    ///   - text: of the user.
    ///   - system: a turn before it; nil for none.
    ///   - raw: without the template.
    ///   - maximumTokens: that the answer may have.
    ///   - tokenizer: the model's.
    /// - Returns: its tokens, at least one.
    /// - Throws: `GenerationError`, `TemplateError`.
    package func prompt(
        _ text: String, system: String?, raw: Bool, maximumTokens: Int, tokenizer: Tokenizer
    ) throws -> Prompt {
        let tokens = try tokens(of: text, system: system, raw: raw, tokenizer)
        let limit = model.configuration.contextLength
        guard !tokens.isEmpty else { throw GenerationError.emptyPrompt }
        guard tokens.count < limit else {
            throw GenerationError.promptTooLong(tokens: tokens.count, limit: limit)
        }
        // An answer ends where the model's context does, as other tools have it.
        return Prompt(tokens: tokens, maximumTokens: min(maximumTokens, limit - tokens.count))
    }

    private func tokens(
        of text: String, system: String?, raw: Bool, _ tokenizer: Tokenizer
    ) throws -> [Int32] {
        if raw { return tokenizer.encodeWhole(text) }
        guard let source = model.chatTemplate else {
            guard system == nil else {
                throw GenerationError.systemWithoutTemplate(model: model.path)
            }
            return tokenizer.encodeWhole(text) + (tokenizer.endID.map { [$0] } ?? [])
        }
        let template = try ChatTemplate(source: source, name: "chat template of \(model.path)")
        let turns = system.map { [ChatMessage(role: "system", content: $0)] } ?? []
        return tokenizer.encode(
            try template.render(
                turns + [ChatMessage(role: "user", content: text)], addGenerationPrompt: true,
                tokens: tokenizer.templateTokens
            ).text)
    }
}
