import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import SkeinTensors
import SkeinText
import SkeinTraining

/// Answers prompts with a model, with or without an adapter.
///
/// Making one loads the weights, which are in memory as long as it is; each answer takes memory for
/// its keys and values besides. It computes one answer at a time on its own threads; other prompts
/// wait, first come first served. An answer is a function of prompt, options and `compute`, not of the
/// number of threads. For conversations, tools and typed answers there is `LanguageModelSession`.
public final class TextGenerator: Sendable {
    /// How to generate an answer: how long, how its tokens are picked, and what stands around the
    /// prompt.
    public struct Options: Sendable, Equatable {
        /// Maximum number of tokens; 1 to 1048576.
        public var maximumTokens = 256
        /// Sampling temperature, 0 to 100; 0: always the most likely token, as with an adapter where this is
        /// nil. Without an adapter nil is what the model's files say (`generation_config.json`, or
        /// `general.sampling.*` of GGUF), and else 0.
        public var temperature: Double?
        /// Sample from this many of the most likely tokens; 0: all; nil: as with `temperature`, else all.
        public var topK: Int?
        /// Sample from the most likely tokens that together have this probability; 1: all; nil: as with
        /// `temperature`, else all.
        public var topP: Double?
        /// Sampling seed.
        public var seed: UInt64 = 0
        /// A system turn before the prompt.
        public var system: String?
        /// Whether to continue the prompt as it is, without a chat template.
        public var isRaw = false
        /// The chat template: the name of a built-in one or of one of the model's, or the path of a
        /// file; nil: the model's.
        public var chatTemplate: String?
        /// What the chat template sees besides the messages: `enable_thinking=false`, several with
        /// commas between them, or a JSON object.
        public var templateArgument: String?
        /// The day, such as 2024-07-26, that the chat template sees as today; nil: that one.
        public var templateDate: String?

        public init() {}
    }

    private let adapted: AdaptedModel
    private let tokenizer: Tokenizer
    private let weights: GenerationWeights
    private let compute: ComputeType
    private let turns = TaskTurns()
    private let threads: SharedTeam

    /// Loads a model.
    ///
    /// - Parameters:
    ///   - model: The base model.
    ///   - adapter: The adapter to apply; nil for the base model alone.
    ///   - compute: Precision of multiplying prompts by the weights; answers are always computed in fp32.
    ///     `int8` is the fastest where a processor has VNNI, and holds a second copy of the weights: a
    ///     byte for each.
    ///   - machine: How this machine is used; only `threads` matters.
    /// - Throws: `SkeinError`, for instance if the adapter does not fit the model;
    ///   `CancellationError` when the task is cancelled.
    public init(
        model: Model, adapter: Adapter? = nil, compute: Recipe.Compute = .fp32,
        machine: Machine = Machine()
    ) async throws {
        let type = ComputeType(named: compute)
        self.compute = type
        (adapted, tokenizer, weights) = try await OwnThread.run("skein-load") { flag in
            try machine.check()
            let adapted = try AdaptedModel(
                model: model.directory, adapter: adapter?.path, threads: machine.threads,
                weights: .auto)
            return (
                adapted, try adapted.tokenizer(),
                try adapted.generationWeights(
                    compute: type, team: ComputeTeam(threadCount: adapted.threads),
                    check: flag.check)
            )
        }
        threads = SharedTeam(threadCount: adapted.threads)
    }

    /// The whole answer to a prompt.
    ///
    /// - Throws: `SkeinError`; `CancellationError` if the task is cancelled.
    public func answer(to prompt: String, options: Options = Options()) async throws -> String {
        try await turns.take {
            try await OwnThread.run("skein-generate") { [self] flag in
                var text = ""
                try generate(prompt, options, until: flag) { text += $0 }
                return text
            }
        }
    }

    /// The answer to a prompt, piece by piece as it is generated.
    ///
    /// Generation stops at the next layer when the consumer stops listening.
    public func stream(
        _ prompt: String, options: Options = Options()
    ) -> AsyncThrowingStream<String, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    try await turns.take {
                        try await OwnThread.run("skein-generate") { [self] flag in
                            try generate(prompt, options, until: flag) { continuation.yield($0) }
                        }
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Generates on the calling thread. The task must have its turn.
    private func generate(
        _ text: String, _ options: Options, until flag: CancelFlag, each: (String) -> Void
    ) throws {
        try flag.check()
        try options.check()
        let prompt = try adapted.prompt(
            text, system: options.system, raw: options.isRaw, chat: options.chat,
            maximumTokens: options.maximumTokens, tokenizer: tokenizer)
        let capacity = prompt.tokens.count + prompt.maximumTokens
        let needed = DecoderSession.cacheBytes(capacity, of: adapted.model.configuration)
        if let usable = SystemMemory.usable, needed > usable {
            throw SkeinError(
                code: .inputOutput,
                what:
                    "a prompt and an answer of \(capacity) tokens need \(needed) bytes of memory, "
                    + "but only \(usable) are free",
                remedy: "use a smaller maximumTokens or a shorter prompt")
        }
        try threads.use { team in
            let generator = Generator(
                adapted.model, weights, options.sampling, adapter: adapted.adapter,
                capacity: capacity, stopTokens: tokenizer.endOfTurnIDs, team: team,
                compute: compute)
            // A character may span several tokens.
            var stream = TokenText(tokenizer)
            try generator.run(
                prompt: prompt.tokens, maximumTokens: prompt.maximumTokens, check: flag.check
            ) { token in
                let piece = stream.text(of: token)
                if !piece.isEmpty { each(piece) }
                return true
            }
            try flag.check()
            let rest = stream.rest()
            if !rest.isEmpty { each(rest) }
        }
    }
}

extension TextGenerator.Options {
    var chat: ChatTemplateSettings {
        ChatTemplateSettings(
            template: chatTemplate, arguments: templateArgument, date: templateDate)
    }

    var sampling: SamplingWish {
        var wish = SamplingWish(
            temperature: temperature.map { Float($0) }, topK: topK, topP: topP.map { Float($0) })
        wish.seed = seed
        return wish
    }

    /// - Throws: `SkeinError` for a value that is not allowed.
    func check() throws {
        let (warmth, top, nucleus) = (
            SamplingRange.temperature, SamplingRange.topK, SamplingRange.topP
        )
        let rules: [(Bool, String)] = [
            ((1...1_048_576).contains(maximumTokens), "maximumTokens must be 1 to 1048576"),
            (temperature.map(warmth.contains) ?? true, "temperature must be \(warmth.text)"),
            (
                topK.map(top.contains) ?? true,
                "topK must be \(top.lowerBound) to \(top.upperBound)"
            ),
            (topP.map(nucleus.contains) ?? true, "topP must be \(nucleus.text)"),
            (!isRaw || system == nil, "a raw prompt cannot have a system turn"),
            (!isRaw || chat == ChatTemplateSettings(), "a raw prompt has no chat template"),
            (
                templateArgument.map { ValueFormat<String>.templateArguments.read($0) != nil }
                    ?? true,
                "templateArgument must be \(ValueFormat<String>.templateArguments.accepted)"
            ),
            (
                templateDate.map { ValueFormat<String>.day.read($0) != nil } ?? true,
                "templateDate must be \(ValueFormat<String>.day.accepted)"
            ),
        ]
        for (isMet, rule) in rules where !isMet {
            throw SkeinError(code: .usage, what: "a generation option is not allowed: \(rule)")
        }
    }
}

/// A team of threads for the task whose turn it is.
private final class SharedTeam: @unchecked Sendable {
    // Sendable: `TaskTurns` admits one task at a time.
    private let team: ComputeTeam

    init(threadCount: Int) {
        team = ComputeTeam(threadCount: threadCount)
    }

    func use(_ body: (ComputeTeam) throws -> Void) rethrows { try body(team) }
}
