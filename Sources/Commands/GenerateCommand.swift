import Basics

/// `skein generate`: a model's answer to a prompt.
struct GenerateCommand: Command {
    struct Options: Sendable, Equatable {
        var model: String
        var adapter: String?
        var prompt: String
        var system: String?
        /// The prompt as it stands, without the chat template.
        var raw: Bool
        var maximumTokens: Int
        /// 0: always the likeliest token.
        var temperature: Double
        /// nil: all tokens.
        var topK: Int?
        /// In 0 ... 1; 1: all tokens.
        var topP: Double
        var seed: UInt64
        var threads: Int?
        var weights: WeightsChoice
        var json: Bool
    }

    static let prompt = Option.required("prompt", .text("TEXT"), "what to answer")
    static let system = Option.optional(
        "system", .text("TEXT"), "system turn to put before the prompt")
    static let raw = Option.flag("raw", "continue the prompt as it stands, without a chat template")
    static let maximumTokens = Option(
        "max-tokens", .integer(1...1_048_576), default: "256", "tokens to generate at most")
    static let temperature = Option(
        "temperature", .number(0...100), default: "0",
        "spread of the choice; 0 = always the likeliest token")
    static let topK = Option(
        "top-k", .integer(0...1_048_576), default: "0", "choose among so many tokens; 0 = all")
    static let topP = Option(
        "top-p", .number(above: 0, to: 1), default: "1",
        "choose among the likeliest tokens that have this probability together")
    static let seed = Option("seed", .seed, default: "0", "of the choice")

    static let table = ArgumentTable(
        command: "generate",
        summary: "answers a prompt, with or without an adapter",
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    SharedFlags.model.description, SharedFlags.adapter.description,
                    prompt.description, system.description, raw.description,
                    SharedFlags.json.description,
                ]),
            OptionGroup(
                title: "choice of tokens",
                options: [
                    maximumTokens.description, temperature.description, topK.description,
                    topP.description, seed.description,
                ]),
            SharedFlags.machine,
        ],
        example:
            "skein generate --model model.gguf --adapter run/adapter --prompt \"What is a nybble?\""
    )

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        let topK = arguments[Self.topK]
        options = Options(
            model: arguments[SharedFlags.model], adapter: arguments[SharedFlags.adapter],
            prompt: arguments[Self.prompt], system: arguments[Self.system],
            raw: arguments[Self.raw], maximumTokens: arguments[Self.maximumTokens],
            temperature: arguments[Self.temperature], topK: topK > 0 ? topK : nil,
            topP: arguments[Self.topP], seed: arguments[Self.seed],
            threads: arguments[SharedFlags.threads], weights: arguments[SharedFlags.weights],
            json: arguments[SharedFlags.json])
        if options.raw, options.system != nil {
            throw UsageError.excludes(option: "raw", other: "system", command: Self.table.command)
        }
    }

    func run(_ io: CommandIO) throws {
        throw CommandError.notWired(command: Self.table.command)
    }
}
