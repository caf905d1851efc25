import Skein
import SkeinBasics
import SkeinFormats
import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinTensors
import SkeinText
import SkeinTraining

/// `skein generate`: a model's answer to a prompt.
struct GenerateCommand: Command {
    struct Options: Sendable, Equatable {
        var model: String
        var adapter: String?
        /// The adapter may be of another base model.
        var anyBase: Bool
        var prompt: String
        var system: String?
        /// Uses the prompt as it is, without the chat template.
        var raw: Bool
        var chat: ChatTemplateSettings
        var maximumTokens: Int
        var sampling: SamplingWish
        /// What the answer must be; nil: any text.
        var grammar: GrammarSource?
        var threads: Int?
        var compute: ComputeType
        /// The retired `--weights` was given.
        var namesWeights: Bool
        /// Where to write the prompt's logits; nothing is generated then.
        var logits: String?
        var json: Bool
    }

    static let prompt = Option.optional(
        "prompt", .text("TEXT"), absent: "PROMPT",
        "prompt to answer; -: standard input, without its last line break")
    static let system = Option.optional(
        "system", .text("TEXT"), "system message before the prompt")
    static let raw = Option.flag("raw", "continue the prompt as it is, without a chat template")
    static let maximumTokens = Option(
        "max-tokens", .integer(1...1_048_576), default: "256", "maximum number of tokens")
    static let schema = Option.optional(
        "schema", .path("FILE"),
        "a JSON Schema; the answer is always a JSON value that it allows")
    static let regex = Option.optional(
        "regex", .text("R"), "a regular expression; the answer always matches it as a whole")
    static let logits = Option.optional(
        "logits", .path("FILE"),
        "write the logits at every position of the prompt, as safetensors, and generate nothing")
    static let compute = HostOptions.table.compute
    /// Generation uses the weights as they are in the file, so there is nothing to choose. The
    /// option stays for scripts that pass it to every command that loads a model.
    static let weights = Option<ResidenceChoice>.retired("weights", .choice, default: "auto")

    static let table = ArgumentTable(
        command: "generate",
        summary: "answers a prompt, with or without an adapter",
        positional: Positional(
            "PROMPT", count: .optional, "the prompt, in the place of --prompt"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    SharedFlags.model.description, SharedFlags.adapter.description,
                    SharedFlags.anyBase.description,
                    prompt.description, system.description, raw.description,
                    logits.description, SharedFlags.json.description,
                ]),
            ChatFlags.group,
            OptionGroup(
                title: "sampling",
                options: [
                    maximumTokens.description
                ] + SamplingFlags.descriptions),
            OptionGroup(
                title: "form of the answer", options: [schema.description, regex.description]),
            OptionGroup(
                title: SharedFlags.machine.title,
                options: [
                    SharedFlags.threads.description, compute.description, weights.description,
                    SharedFlags.logFormat.description,
                ]),
        ],
        example:
            "skein generate --model model.gguf --adapter run/adapter --prompt \"What is a nybble?\"",
        first: [
            "model", "adapter", "prompt", "system", "raw", "json", "chat-template", "max-tokens",
            "temperature", "top-k", "top-p", "seed", "schema", "regex", "threads",
        ]
    )

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            model: arguments[SharedFlags.model], adapter: arguments[SharedFlags.adapter],
            anyBase: arguments[SharedFlags.anyBase],
            prompt: try Self.prompt(arguments), system: arguments[Self.system],
            raw: arguments[Self.raw], chat: arguments.chat,
            maximumTokens: arguments[Self.maximumTokens],
            sampling: SamplingFlags.wish(arguments),
            grammar: arguments[Self.schema].map { .schema(path: $0) }
                ?? arguments[Self.regex].map { .expression($0) },
            threads: arguments[SharedFlags.threads], compute: arguments[Self.compute],
            namesWeights: arguments.isGiven(Self.weights.description),
            logits: arguments[Self.logits], json: arguments[SharedFlags.json])
        if arguments[Self.schema] != nil, arguments[Self.regex] != nil {
            throw UsageError.excludes(
                option: "schema", other: "regex", command: Self.table.command)
        }
        if options.logits != nil, let grammar = options.grammar {
            throw UsageError.excludes(
                option: "logits", other: grammar.option, command: Self.table.command)
        }
        if options.raw, options.system != nil {
            throw UsageError.excludes(option: "raw", other: "system", command: Self.table.command)
        }
        if options.raw, let other = arguments.givenChatOption {
            throw UsageError.excludes(option: "raw", other: other, command: Self.table.command)
        }
    }

    private static func prompt(_ arguments: ParsedArguments) throws -> String {
        switch (arguments[prompt], arguments.positionals.first) {
        case (let text?, nil), (nil, let text?): return text
        case (_?, _?):
            throw UsageError.excludesPositional(
                option: prompt.description.name, placeholder: "PROMPT", command: table.command)
        case (nil, nil):
            throw UsageError.missingOption(
                prompt.description.name, placeholder: prompt.description.placeholder,
                command: table.command)
        }
    }

    /// The prompt, which may come by standard input.
    ///
    /// - Throws: `CommandError.badInput` for what is not UTF-8; as `readInput`.
    func prompt(_ io: CommandIO) throws -> String {
        guard options.prompt == "-" else { return options.prompt }
        var bytes = try io.readInput()
        if let offset = UTF8Text.firstInvalidByte(in: bytes) {
            throw CommandError.badInput(.notUTF8(offset: offset), place: "standard input")
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    func run(_ io: CommandIO) throws {
        // Before a model is opened for nothing.
        let text = try prompt(io)
        if options.namesWeights {
            io.log.warning(
                "generate ignores --weights: it always uses the weights as they are in the file")
        }
        // Each token is read as one of an answer then.
        let compute = options.logits == nil ? options.compute : .fp32
        if compute != options.compute {
            io.log.warning(
                "generate --logits computes in fp32: --compute \(options.compute.rawValue) changes "
                    + "nothing")
        }
        let adapted = try AdaptedModel(
            model: ModelDirectory.open(options.model), adapter: options.adapter,
            anyBase: options.anyBase,
            threads: options.threads, weights: .auto)
        for warning in try adapted.warnings(options.chat, usesTemplate: !options.raw) {
            io.log.warning(warning)
        }
        let tokenizer = try adapted.tokenizer()
        if !options.raw,
            let renderer = try ChatRenderer(adapted.model.raw, options.chat, tokenizer)
        {
            TokenizeCommand.warn(of: options.chat, renderer, io)
        }
        ComputeAdvice.warnOfSoftware(compute, io.log)
        // Before anything is computed.
        let grammar = try options.grammar?.compiled(for: tokenizer)
        let prompt: AdaptedModel.Prompt
        do {
            prompt = try adapted.prompt(
                text, system: options.system, raw: options.raw, chat: options.chat,
                maximumTokens: options.maximumTokens, tokenizer: tokenizer)
        } catch let error as TokenizerError {
            throw error.at("--prompt")
        }
        let matcher = try grammar.flatMap {
            try options.grammar?.matcher($0, limit: prompt.maximumTokens)
        }
        let team = ComputeTeam(threadCount: adapted.threads)
        let generator = Generator(
            adapted.model, try adapted.generationWeights(compute: compute, team: team),
            options.sampling,
            adapter: adapted.adapter,
            capacity: prompt.tokens.count + prompt.maximumTokens,
            stopTokens: tokenizer.endOfTurnIDs, tokenCount: tokenizer.usableCount, team: team,
            compute: compute, answerRows: matcher == nil ? 1 : Generator.forcedRows)
        if let path = options.logits {
            return try writeLogits(
                prompt.tokens, generator.session,
                vocabularySize: adapted.model.configuration.vocabularySize,
                to: path, io)
        }
        if options.sampling.temperature == nil, options.adapter == nil {
            adapted.model.sampling.warning.map { io.log.warning($0) }
        }
        do {
            try answer(prompt, generator, matcher, tokenizer, io)
        } catch GenerationError.notFinite {
            throw GenerationError.notFinite.traced(to: adapted.model)
        }
    }

    /// Writes "logits", [prompt tokens, vocabulary], and "ids", [prompt tokens], with which another
    /// program can check that it computes the same.
    private func writeLogits(
        _ prompt: [Int32], _ session: DecoderSession, vocabularySize: Int, to path: String,
        _ io: CommandIO
    ) throws {
        // Once as rows, and once in one piece for the file.
        let count = 2 * prompt.count * vocabularySize
        MemoryShortage.check(floats: count, for: "the logits of \(prompt.count) positions")
        session.expectedLength = prompt.count
        let rows = prompt.map { session.logits(after: [$0], as: .answer) }
        try SafetensorsWriter.write(
            [
                .init(name: "ids", shape: [prompt.count], floats: prompt.map(Float.init)),
                .init(
                    name: "logits", shape: [prompt.count, rows[0].count],
                    floats: Array(rows.joined())),
            ], metadata: ["format": "pt"], to: path)
        io.log.info("logits of \(prompt.count) positions: \(path)")
    }

    private func answer(
        _ prompt: AdaptedModel.Prompt, _ generator: Generator,
        _ matcher: GrammarMatcher?, _ tokenizer: Tokenizer, _ io: CommandIO
    ) throws {
        let began = ContinuousClock.now
        var tokens: [Int32] = []
        // A character may span several tokens. A value is written byte for byte.
        var stream = TokenText(tokenizer)
        var value = UTF8Stream()
        func take(_ token: Int32) throws -> Bool {
            tokens.append(token)
            if options.json { return true }
            try io.write(
                matcher == nil ? stream.text(of: token) : value.text(of: tokenizer.bytes(of: token))
            )
            return true
        }
        let end: Generator.End
        if var matcher {
            do {
                end = try generator.run(
                    prompt: prompt.tokens, matcher: &matcher,
                    segment: { tokenizer.segments(of: $0, after: tokens.last) },
                    check: DecoderSession.uninterrupted, each: take)
            } catch let error as GrammarError {
                // What is written so far ends here.
                if !options.json { try io.print(value.rest()) }
                guard let source = options.grammar else { throw error }
                throw GrammarProblem(error: error, source: source)
            }
        } else {
            end = try generator.run(
                prompt: prompt.tokens, maximumTokens: prompt.maximumTokens,
                check: DecoderSession.uninterrupted, each: take)
        }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        guard options.json else {
            try io.print(matcher == nil ? stream.rest() : value.rest())
            if matcher != nil, end == .maximumTokens {
                io.log.warning("the value was closed early, so that it fits --max-tokens")
            }
            return
        }
        let text =
            matcher == nil
            ? tokenizer.decode(tokens)
            : String(decoding: tokens.flatMap { tokenizer.bytes(of: $0) }, as: UTF8.self)
        try io.print(json: [
            ("prompt_tokens", .integer(prompt.tokens.count)),
            ("tokens", .list(tokens.map { .integer(Int($0)) })),
            ("text", .text(text)),
            ("finish_reason", .text(end.rawValue)),
            ("tokens_per_second", .decimal(Double(tokens.count) / seconds)),
        ])
    }
}
