import Foundation
import SkeinBasics
import SkeinGrammar
import SkeinModels
import SkeinText

/// A base model that answers: one copy of its weights, and what all its requests share. `skein serve` and
/// sessions have one each, with a front of their own.
package final class ModelHost: Sendable {
    /// What is read of a model before its weights, which take much longer.
    package struct Opened: Sendable {
        package let model: ModelDirectory
        package let tokenizer: Tokenizer
        package let plan: HostPlan
        /// SHA-256 of the model's files.
        package let digest: Background<SHA256.Digest>
        /// The room of all adapters.
        package let memory: AdapterMemory
        fileprivate let guesses: Bool

        /// Looks whether there is room, and begins to hash the files.
        ///
        /// - Parameters:
        ///   - model: the base.
        ///   - options: what it may take.
        ///   - use: who hosts.
        /// - Throws: `HostError`, `TokenizerError`.
        package init(
            _ model: ModelDirectory, _ options: OptionValues<HostOptions>, for use: HostUse
        ) throws {
            self.model = model
            tokenizer = try Tokenizer(
                model: model.raw, embeddings: model.configuration.vocabularySize)
            plan = try HostPlan(model, options, for: use)
            guesses = options.guesses
            digest = Background("skein-hash") { model.contentDigest() }
            memory = AdapterMemory(byteLimit: plan.adapterBytes)
        }
    }

    package let tokenizer: Tokenizer
    package let plan: HostPlan
    package let prompts: ChatPrompts
    package let engine: AnswerEngine
    /// nil: the beginnings of prompts are not kept.
    package let prefixes: PrefixCache?
    package let grammars: GrammarCache
    package let adapters: HostedAdapters
    /// Bytes of the longest token.
    package let longestToken: Int

    package var model: ModelDirectory { adapters.model }
    /// Tokens of prompt and answer together.
    package var context: Int { plan.batch.context }

    /// Compiled schemas and expressions that stay, if their bytes allow it.
    private static let keptGrammars = 32

    /// Loads the weights, which takes a moment, and begins to wait for answers to make.
    ///
    /// - Parameters:
    ///   - opened: the model.
    ///   - chat: how conversations become text.
    ///   - owners: who may ask; they take turns.
    ///   - anyBase: takes adapters that say that they were made for another base.
    ///   - date: seconds since 1970.
    ///   - deliver: called on the engine's thread with what a step brought; must not wait.
    /// - Throws: as `AnswerEngine`.
    package init(
        _ opened: Opened, chat: ChatTemplateSettings, owners: Int = 1, anyBase: Bool = false,
        date: @escaping @Sendable () -> Int = { Int(Date().timeIntervalSince1970) },
        deliver: @escaping @Sendable ([AnswerEvent]) -> Void
    ) throws {
        let model = opened.model
        (tokenizer, plan) = (opened.tokenizer, opened.plan)
        prompts = ChatPrompts(model, chat, tokenizer)
        prefixes =
            plan.prefixBytes > 0
            ? PrefixCache(model: opened.digest.wait(), byteLimit: plan.prefixBytes) : nil
        engine = try AnswerEngine(
            AnswerEngine.Setup(
                model: model, plan: plan.batch, threads: plan.threads, tokenizer: tokenizer,
                prefixes: prefixes, guesses: opened.guesses, owners: owners),
            deliver: deliver)
        let written = tokenizer.writtenTokens
        longestToken = written.reduce(1) { max($0, $1?.count ?? 0) }
        grammars = GrammarCache(
            TokenVocabulary(tokens: written), count: Self.keptGrammars,
            byteLimit: plan.grammarBytes)
        adapters = HostedAdapters(
            model, engine.weights, digest: opened.digest, rank: plan.batch.rank,
            memory: opened.memory, anyBase: anyBase, date: date)
    }

    /// Bytes of a text whose tokens may fit: some normalizers make it shorter. Texts that are longer are
    /// refused before a second is spent on cutting them into tokens.
    package var mostTextBytes: Int {
        let (bytes, overflows) = context.multipliedReportingOverflow(by: 2 * longestToken)
        return overflows ? .max : max(bytes, 1 << 16)
    }

    /// Holds an answer of at most `limit` tokens to the calls of tools. Parameters as of `ToolGuide`.
    ///
    /// - Throws: `GrammarError.full`, unless the grammar is known; what `ToolGuide` throws.
    package func guide(
        tools: [Tool], choice: ToolChoice, parallel: Bool = true, beginsWithCalls: Bool = false,
        limit: Int, idSeed: String, isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws -> ToolGuide {
        if !knows(tools, choice) { try grammars.makeRoom() }
        return try ToolGuide(
            prompts.format, tools: tools, choice: choice, parallel: parallel,
            beginsWithCalls: beginsWithCalls, grammars: grammars, tokenizer: tokenizer,
            limit: limit, idSeed: idSeed, isWanted: isWanted)
    }

    /// Whether there is a grammar of these tools as they are. Where some of their schemas cannot be
    /// enforced there is none, though there may be one without those.
    package func knows(_ tools: [Tool], _ choice: ToolChoice) -> Bool {
        let callable = tools.filter { choice.allows($0) }
        // Nothing is compiled: the request is refused, or its answer is free.
        if callable.isEmpty { return true }
        return grammars.known(ToolGrammar.form(callable, prompts.format.argumentsKey)) != nil
    }
}
