import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinText
import SkeinTraining

/// `skein tokenize`: converts text to a model's token ids, and back.
struct TokenizeCommand: Command {
    struct Options: Sendable, Equatable {
        var model: String
        /// `-` means all of standard input, as one text.
        var texts: [String]
        /// Whether texts are conversations for the chat template.
        var chat: Bool
        var template: ChatTemplateSettings
        /// Whether texts are lists of ids.
        var decode: Bool
        var json: Bool
    }

    static let chat = Option.flag(
        "chat",
        "apply the chat template to each TEXT: a JSON list of messages, an object with messages, "
            + "tools and add_generation_prompt, or plain text as one user turn")
    static let decode = Option.flag(
        "decode", "decode: each TEXT is a list of ids, separated by blanks or commas")

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
                ]),
            ChatFlags.group,
        ],
        example: "skein tokenize --model model.gguf --json \"Hello, world\"")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            model: arguments[SharedFlags.model], texts: arguments.positionals,
            chat: arguments[Self.chat], template: arguments.chat, decode: arguments[Self.decode],
            json: arguments[SharedFlags.json])
        if options.chat, options.decode {
            throw UsageError.excludes(option: "chat", other: "decode", command: Self.table.command)
        }
        if !options.chat, let option = arguments.givenChatOption {
            throw UsageError.needs(option: option, other: "chat", command: Self.table.command)
        }
    }

    func run(_ io: CommandIO) throws {
        let model = try ModelDirectory.open(options.model)
        let tokenizer = try Tokenizer(
            model: model.raw, embeddings: model.configuration.vocabularySize)
        let renderer = options.chat ? try renderer(of: model, tokenizer) : nil
        _ = try renderer?.template
        if let renderer { Self.warn(of: options.template, renderer, io) }
        for (index, word) in options.texts.enumerated() {
            let text = try TextArgument(word, number: index + 1, io)
            if options.decode {
                try decode(text, tokenizer, io)
                continue
            }
            do {
                if let renderer {
                    try encode(text, renderer, tokenizer, io)
                } else {
                    let ids = try text.bytes.withUnsafeBufferPointer {
                        try tokenizer.ids(ofUTF8: $0)
                    }
                    try show(ids, rendered: nil, tokenizer, io)
                }
            } catch let error as TokenizerError {
                throw error.at(text.place)
            }
        }
    }

    /// Says that an argument does nothing, since the template does not know its name.
    static func warn(of settings: ChatTemplateSettings, _ renderer: ChatRenderer, _ io: CommandIO) {
        do throws(ChatTemplateError) {
            try settings.check(renderer.templates)
        } catch {
            let explanation = error.explanation
            io.log.warning("\(explanation.place): \(explanation.what), so it does nothing")
        }
    }

    private func renderer(
        of model: ModelDirectory, _ tokenizer: Tokenizer
    ) throws -> ChatRenderer {
        guard let renderer = try ChatRenderer(model.raw, options.template, tokenizer) else {
            throw CommandError.badInput(.noChatTemplate, place: model.path)
        }
        return renderer
    }

    private func encode(
        _ text: TextArgument, _ renderer: ChatRenderer, _ tokenizer: Tokenizer, _ io: CommandIO
    ) throws {
        let conversation = try text.read { text throws(InputProblem) in
            try ConversationFile(text: text)
        }
        let prepared = try renderer.prepared(conversation.messages, tools: conversation.tools)
        let rendered = try renderer.render(
            prepared, addsPrompt: conversation.addsGenerationPrompt
        ).text
        try show(tokenizer.ids(of: rendered), rendered: rendered, tokenizer, io)
    }

    /// Prints `{"ids":[...],"pieces":[...]}`, or the ids and then a line for each with its piece.
    private func show(
        _ ids: [Int32], rendered: String?, _ tokenizer: Tokenizer, _ io: CommandIO
    ) throws {
        let pieces = ids.map { tokenizer.piece($0) ?? "" }
        if options.json {
            let fields: [(String, JSONValue)] = [
                ("ids", .list(ids.map { .integer(Int($0)) })),
                ("pieces", .list(pieces.map { .text($0) })),
            ]
            return try io.print(json: fields + (rendered.map { [("text", .text($0))] } ?? []))
        }
        try io.print((["ids:"] + ids.map(String.init)).joined(separator: " "))
        let width = ids.reduce(0) { max($0, String($1).count) }
        var lines = ""
        for (id, piece) in zip(ids, pieces) {
            let digits = String(id)
            lines += String(repeating: " ", count: 2 + width - digits.count)
            lines += digits + "  " + piece + "\n"
        }
        try io.write(lines)
    }

    /// Prints `{"text":...}`, or the bytes of the tokens and a line break.
    private func decode(_ text: TextArgument, _ tokenizer: Tokenizer, _ io: CommandIO) throws {
        let ids = try text.read { text throws(InputProblem) in
            try TokenIDs.read(text, vocabularySize: tokenizer.vocabularySize)
        }
        if options.json {
            return try io.print(json: [("text", .text(tokenizer.decode(ids)))])
        }
        try io.writeOutput(ids.flatMap { tokenizer.bytes(of: $0) } + [UInt8(ascii: "\n")])
    }
}

/// One TEXT of the command line, or standard input.
private struct TextArgument {
    let place: String
    /// Valid UTF-8.
    let bytes: [UInt8]

    init(_ word: String, number: Int, _ io: CommandIO) throws {
        guard word == "-" else {
            place = "TEXT \(number)"
            bytes = Array(word.utf8)
            return
        }
        place = "standard input"
        bytes = try io.readInput()
        if let offset = UTF8Text.firstInvalidByte(in: bytes) {
            throw CommandError.badInput(.notUTF8(offset: offset), place: place)
        }
    }

    /// Passes the text to `body`, and adds the place to what it throws.
    func read<Value>(_ body: (String) throws(InputProblem) -> Value) throws -> Value {
        do throws(InputProblem) {
            return try body(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw CommandError.badInput(error, place: place)
        }
    }
}

/// Checks text that arrives as bytes.
enum UTF8Text {
    /// Offset of the first byte that is not part of valid UTF-8, or nil when all are.
    static func firstInvalidByte(in bytes: [UInt8]) -> Int? {
        if String(validating: bytes, as: UTF8.self) != nil { return nil }
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }
}

/// Reads token ids from text.
enum TokenIDs {
    /// Reads ids separated by blanks, line breaks or commas; skips the brackets of a JSON list.
    ///
    /// - Parameters:
    ///   - text: What was typed or piped.
    ///   - vocabularySize: Ids must be below it.
    /// - Returns: The ids, in order.
    /// - Throws: `.notAnID`, `.idOutOfRange`.
    static func read(_ text: String, vocabularySize: Int) throws(InputProblem) -> [Int32] {
        var ids: [Int32] = []
        for word in text.split(whereSeparator: { $0.isWhitespace || ",[]".contains($0) }) {
            let digits = word.first == "-" ? word.dropFirst() : word
            guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
                throw .notAnID(word: String(word))
            }
            guard let id = Int32(word), id >= 0, Int(id) < vocabularySize else {
                throw .idOutOfRange(id: String(word), vocabularySize: vocabularySize)
            }
            ids.append(id)
        }
        return ids
    }
}
