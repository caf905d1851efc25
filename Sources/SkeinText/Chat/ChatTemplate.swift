import SkeinJSON

/// What a chat template sees as `bos_token` and `eos_token`. One that is nil is undefined there: it
/// writes nothing by itself and cannot be added to a text.
package struct TemplateTokens: Sendable, Equatable {
    package var begin: String?
    package var end: String?

    package init(begin: String? = nil, end: String? = nil) {
        self.begin = begin
        self.end = end
    }
}

/// A model's chat template: turns a conversation into the one text that the model was tuned on.
///
/// Chat templates are Jinja programs that come with a model file, so they are untrusted input. This
/// is an interpreter for the part of Jinja that published templates use (Scripts/check-templates
/// lists them); anything else is `TemplateError.unsupported`, with its line, and never a guess. What
/// is supported does what Jinja2 does in the environment that Hugging Face transformers sets up
/// (`trim_blocks`, `lstrip_blocks`, `tojson` without HTML escapes); the goldens in
/// Tests/Fixtures/templates were made by Jinja2 itself.
///
/// The interpreter knows which characters of the result came from message i: training needs to know
/// exactly where an assistant's words begin and end, and searching the rendered text for them
/// cannot tell (a question may quote the answer).
package struct ChatTemplate: Sendable {
    /// What errors call this template: the file that it came from.
    package let name: String
    /// The day that `strftime_now` gives.
    package let date: TemplateDate
    /// Its text.
    package let source: String
    /// The names in it: variables, filters, tests and keywords.
    package let names: Set<String>
    /// The texts in its code, in UTF-8.
    let literals: Set<[UInt8]>
    let body: [TemplateStatement]

    /// Parses `source`.
    ///
    /// - Parameters:
    ///   - source: The template, as in the model's files.
    ///   - name: Its name in errors.
    ///   - date: The day that the template sees as today. It is an argument, not the clock: a run
    ///     is a pure function of its inputs, and a template that writes the date into its system
    ///     message (Llama 3.2) would give other training data every day.
    /// - Throws: `TemplateError` when it is malformed, too large, or uses an unsupported construct.
    package init(source: String, name: String, date: TemplateDate = .documentedFallback) throws {
        let tokens = try TemplateLexer.tokens(of: source, name: name)
        self.body = try TemplateParser.statements(of: tokens, name: name)
        names = Set(
            tokens.compactMap { token in
                if case .name(let name) = token.kind { name } else { nil }
            })
        literals = Set(
            tokens.compactMap { token in
                if case .string(let bytes) = token.kind { bytes } else { nil }
            })
        self.name = name
        self.date = date
        self.source = source
    }

    /// Renders `messages`.
    ///
    /// The template sees `messages`, `add_generation_prompt`, `bos_token`, `eos_token`, `tools`
    /// (none without any), `documents` as none, which is what transformers passes for a plain
    /// conversation, and `arguments`, which come before all but the messages.
    ///
    /// - Parameters:
    ///   - messages: The conversation.
    ///   - addGenerationPrompt: Whether the text ends with the opening of an assistant's turn.
    ///   - tokens: `bos_token` and `eos_token`.
    ///   - tools: what the model may call, as JSON schemas.
    ///   - arguments: further variables, such as `enable_thinking`.
    /// - Returns: The text, and which of its parts come from which message.
    /// - Throws: `TemplateError` when the template refuses the conversation (`raised`), fails, or
    ///   exceeds a limit.
    package func render(
        _ messages: [ChatMessage], addGenerationPrompt: Bool, tokens: TemplateTokens,
        tools: JSONValue? = nil, arguments: [JSONField] = []
    ) throws -> RenderedChat {
        var (interpreter, variables) = try prepared(messages[...], tokens, tools, arguments)
        variables["add_generation_prompt"] = .bool(addGenerationPrompt)
        return RenderedChat(try interpreter.render(body, variables: variables))
    }

    /// An interpreter, and the variables that it begins with but for `add_generation_prompt`.
    func prepared(
        _ messages: ArraySlice<ChatMessage>, _ tokens: TemplateTokens, _ tools: JSONValue?,
        _ arguments: [JSONField]
    ) throws -> (TemplateInterpreter, [String: TemplateValue]) {
        var interpreter = TemplateInterpreter(template: name, date: date)
        let conversation = try messages.enumerated().map { index, message in
            try interpreter.value(of: message, origin: index)
        }
        var variables: [String: TemplateValue] = ["documents": .none]
        variables["bos_token"] = tokens.begin.map { .text(TemplateText($0)) }
        variables["eos_token"] = tokens.end.map { .text(TemplateText($0)) }
        variables["tools"] =
            try tools.map { try interpreter.value(of: $0, origin: nil) }
            ?? TemplateValue.none
        for argument in arguments {
            variables[argument.name] = try interpreter.value(of: argument.value, origin: nil)
        }
        variables["messages"] = .list(try interpreter.collection(conversation))
        return (interpreter, variables)
    }
}

/// A rendered conversation and where its parts came from.
package struct RenderedChat: Sendable, Equatable {
    /// A stretch of the text with one origin.
    package struct Piece: Sendable, Equatable {
        package var text: String
        /// The message that this is from (its content or its tool calls, or what the template
        /// left of them after trimming), nil for the template's own text.
        package var messageIndex: Int?

        package init(text: String, messageIndex: Int?) {
            self.text = text
            self.messageIndex = messageIndex
        }
    }

    /// The whole text.
    package var text: String
    /// The same text in pieces, in order. None is empty, and two neighbours differ in origin.
    package var pieces: [Piece]
    /// The bytes of the text that `{% generation %}` blocks wrote: ascending, neither empty nor
    /// adjacent.
    package var generated: [Range<Int>]

    package init(text: String, pieces: [Piece], generated: [Range<Int>] = []) {
        self.text = text
        self.pieces = pieces
        self.generated = generated
    }

    init(_ output: TemplateText) {
        text = output.string
        pieces = []
        generated = output.generatedRanges
        var start = 0
        for (index, run) in output.runs.enumerated() {
            let isLast = index + 1 == output.runs.count
            if !isLast, output.runs[index + 1].origin == run.origin { continue }
            pieces.append(
                Piece(
                    text: String(decoding: output.bytes[start..<run.end], as: UTF8.self),
                    messageIndex: run.origin))
            start = run.end
        }
    }
}
