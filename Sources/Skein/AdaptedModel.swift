import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import SkeinTensors
import SkeinText
import SkeinTraining

/// A model with or without an adapter, opened to be used, not trained.
package struct AdaptedModel: Sendable {
    package let model: ModelDirectory
    /// nil: the base model.
    package let adapter: AdapterParameters?
    /// The adapter with what its files say.
    package let loaded: LoadedAdapter?
    package let threads: Int
    private let weights: ResidenceChoice
    /// nil: the adapter may be of any base model, or does not say of which.
    private let baseDigest: Background<SHA256.Digest>?

    /// Opens and checks the adapter's files, of any format. The model's weights are not loaded yet.
    ///
    /// - Parameters:
    ///   - model: the base model.
    ///   - path: the adapter's folder or file, in any format; nil for none.
    ///   - anyBase: whether the adapter may have been made for another base model.
    ///   - threads: compute threads; nil: as many as processors that may be used.
    ///   - weights: where an engine keeps the weights.
    /// - Throws: `FormatError`, `FileError`, `AdapterError`.
    package init(
        model: ModelDirectory, adapter path: String?, anyBase: Bool = false, threads: Int?,
        weights: ResidenceChoice
    ) throws {
        self.model = model
        self.threads = threads ?? SystemProcessors.usable
        self.weights = weights
        loaded = try path.map { path in
            try LoadedAdapter.read(path, for: model, matching: ModulePatterns.matching)
        }
        adapter = loaded?.parameters
        // Hashing a gigabyte takes half a second: it goes on while the weights are loaded.
        let isToCheck = loaded?.configuration.origin != nil && !anyBase
        baseDigest =
            isToCheck ? Background("skein-hash") { model.contentDigest() } : nil
    }

    /// Checks that the adapter was made for this model. Loading the weights does it, too.
    ///
    /// - Throws: `AdapterError.otherBase`.
    package func checkBase() throws {
        guard let baseDigest else { return }
        try loaded?.check(base: baseDigest.wait())
    }

    /// What may make the adapter's answers worse than they were in training: another base model, or other
    /// text around what is said.
    ///
    /// - Parameters:
    ///   - chat: how conversations become text here.
    ///   - usesTemplate: whether text goes through a template here, if there is one.
    /// - Returns: sentences; none for the base model.
    /// - Throws: `ChatTemplateError`, `FileError`.
    package func warnings(_ chat: ChatTemplateSettings, usesTemplate: Bool) throws -> [String] {
        guard let loaded else { return [] }
        return try [loaded.otherBaseName(than: model)].compactMap(\.self)
            + TrainedText.warnings(
                adapter: loaded.path, loaded.configuration.origin, from: chat,
                usesTemplate: usesTemplate, model: model.raw)
    }

    /// Loads the base model's weights for generation.
    ///
    /// - Parameters:
    ///   - compute: of prompts; int8 makes a second copy of the projections.
    ///   - team: that packs them.
    ///   - check: called before each layer; what it throws ends the loading.
    /// - Returns: the weights of the adapter's base.
    /// - Throws: `AdapterError.otherBase`; what `check` throws; `FormatError`; in int8
    ///   `GenerationError.memory` and `PackedMatrixError`.
    package func generationWeights(
        compute: ComputeType = .fp32, team: ComputeTeam, check: () throws -> Void = {}
    ) throws -> GenerationWeights {
        if compute == .int8, let usable = SystemMemory.usable {
            // The second copy of a 4-bit model takes twice as much as the first.
            let needed = try GenerationWeights.packedBytes(of: model, compute: compute)
            guard needed <= usable else {
                throw GenerationError.memory(needed: needed, available: usable)
            }
        }
        let weights = try GenerationWeights(
            model: model, compute: compute, team: team, check: check)
        try checkBase()
        return weights
    }

    /// Loads the weights for evaluation.
    ///
    /// - Parameters:
    ///   - positions: tokens of the longest sequence that will be read.
    ///   - compute: precision of multiplying by the frozen weights.
    ///   - preference: how answers are compared; nil: the loss is that of each row.
    ///   - shouldStop: asked while the weights are loaded; true throws a `CancellationError`.
    /// - Returns: an engine of the base model with the adapter's shape.
    /// - Throws: `FormatError`.
    package func engine(
        positions: Int, compute: ComputeType = .fp32, preference: PreferenceLoss? = nil,
        shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws -> MicroBatchEngine {
        var configuration = TrainingConfiguration()
        configuration.compute = compute
        configuration.dropout = 0
        let engine = try MicroBatchEngine(
            model: model, adapter: adapter?.shape, configuration: configuration,
            residence: weights.residence(of: model, compute: configuration.compute),
            positions: positions, threads: threads, progress: { _ in !shouldStop() })
        try checkBase()
        guard let preference else { return engine }
        return MicroBatchEngine(
            decoder: engine.decoder, dropout: nil, codec: engine.codec, seed: engine.seed,
            preference: preference)
    }

    /// The model's tokenizer, which refuses texts with tokens that the model has no embedding for.
    ///
    /// - Throws: `TokenizerError`.
    package func tokenizer() throws -> Tokenizer {
        try Tokenizer(model: model.raw, embeddings: model.configuration.vocabularySize)
    }
}

extension AdaptedModel {
    /// A prompt's tokens, and how many tokens its answer may have.
    package struct Prompt: Sendable, Equatable {
        package let tokens: [Int32]
        /// At most what was asked for, and no more than fit into the model's context.
        package let maximumTokens: Int
    }

    /// Encodes a prompt with the model's chat template, or raw. If the model has no template, the
    /// end token follows the prompt, as in training.
    ///
    /// - Parameters:
    ///   - text: what the user says.
    ///   - system: a system turn before it; nil for none.
    ///   - raw: whether to leave out the template.
    ///   - chat: the template, if not the model's, and what it sees.
    ///   - maximumTokens: tokens that the answer may have.
    ///   - tokenizer: the model's.
    /// - Returns: the prompt, which has at least one token.
    /// - Throws: `GenerationError`, `TokenizerError`, `TemplateError`, `ChatTemplateError`, `FileError`.
    package func prompt(
        _ text: String, system: String?, raw: Bool,
        chat: ChatTemplateSettings = ChatTemplateSettings(), maximumTokens: Int,
        tokenizer: Tokenizer
    ) throws -> Prompt {
        let tokens = try tokens(of: text, system: system, raw: raw, chat, tokenizer)
        let limit = model.configuration.contextLength
        guard !tokens.isEmpty else { throw GenerationError.emptyPrompt }
        guard tokens.count < limit else {
            throw GenerationError.promptTooLong(tokens: tokens.count, limit: limit)
        }
        // An answer ends where the model's context does, as in other tools.
        return Prompt(tokens: tokens, maximumTokens: min(maximumTokens, limit - tokens.count))
    }

    private func tokens(
        of text: String, system: String?, raw: Bool, _ chat: ChatTemplateSettings,
        _ tokenizer: Tokenizer
    ) throws -> [Int32] {
        if raw { return try tokenizer.ids(ofWhole: text) }
        guard let renderer = try ChatRenderer(model.raw, chat, tokenizer) else {
            guard system == nil else {
                throw GenerationError.systemWithoutTemplate(model: model.path)
            }
            // As rows in the format eos begin.
            let ids = try tokenizer.ids(ofWhole: text)
            let end = [tokenizer.endID].compactMap { $0 == ids.last ? nil : $0 }
            try tokenizer.check(end)
            return ids + end
        }
        let turns = system.map { [ChatMessage(role: "system", content: $0)] } ?? []
        let prepared = try renderer.prepared(turns + [ChatMessage(role: "user", content: text)])
        return try tokenizer.ids(of: renderer.render(prepared, addsPrompt: true).text)
    }
}
