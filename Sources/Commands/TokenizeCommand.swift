import Basics

/// `skein tokenize`: texts as a model's token ids, and back.
struct TokenizeCommand: Command {
    struct Options: Sendable, Equatable {
        var model: String
        /// `-` stands for all of standard input, as one text.
        var texts: [String]
        /// Texts are conversations, and go through the chat template.
        var chat: Bool
        /// Texts are ids.
        var decode: Bool
        var json: Bool
    }

    static let chat = Option.flag(
        "chat",
        "put each TEXT through the chat template: a JSON list of messages, an object with messages "
            + "and add_generation_prompt, or else one user turn")
    static let decode = Option.flag(
        "decode", "the other way: each TEXT is ids with blanks or commas between them")

    static let table = ArgumentTable(
        command: "tokenize",
        summary: "shows the token ids and pieces of texts",
        positional: Positional(
            "TEXT", count: .oneOrMore, "texts; - reads standard input as one text, byte for byte"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    SharedFlags.model.description, chat.description, decode.description,
                    SharedFlags.json.description,
                ])
        ],
        example: "skein tokenize --model model.gguf --json \"Hello, world\"")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            model: arguments[SharedFlags.model], texts: arguments.positionals,
            chat: arguments[Self.chat], decode: arguments[Self.decode],
            json: arguments[SharedFlags.json])
        if options.chat, options.decode {
            throw UsageError.excludes(option: "chat", other: "decode", command: Self.table.command)
        }
    }

    func run(_ io: CommandIO) throws {
        throw CommandError.notWired(command: Self.table.command)
    }
}
