/// One turn of a conversation.
package struct ChatMessage: Sendable, Equatable {
    /// The speaker, as the template names it: "system", "user", "assistant".
    package var role: String
    /// What is said.
    package var content: String

    package init(role: String, content: String) {
        self.role = role
        self.content = content
    }
}

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
/// is an interpreter for the part of Jinja that the templates of our model families use; anything
/// else is `TemplateError.unsupported` at `init`, with its line, and never a guess. What is
/// supported does what Jinja2 does in the environment that Hugging Face transformers sets up
/// (`trim_blocks`, `lstrip_blocks`, `tojson` without HTML escapes); the goldens in
/// Tests/Fixtures/templates were made by Jinja2 itself.
///
/// The interpreter knows which characters of the result came from `messages[i].content`: training
/// needs to know exactly where an assistant's words begin and end, and searching the rendered text
/// for them cannot tell (a question may quote the answer).
package struct ChatTemplate: Sendable {
    /// What errors call this template: the file that it came from.
    package let name: String
    /// The day that `strftime_now` gives.
    package let date: TemplateDate
    private let body: [TemplateStatement]

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
        self.name = name
        self.date = date
    }

    /// Renders `messages`.
    ///
    /// The template sees `messages`, `add_generation_prompt`, `bos_token`, `eos_token`, and `tools`
    /// and `documents` as none, which is what transformers passes for a plain conversation.
    ///
    /// - Parameters:
    ///   - messages: The conversation.
    ///   - addGenerationPrompt: Whether the text ends with the opening of an assistant's turn.
    ///   - tokens: `bos_token` and `eos_token`.
    /// - Returns: The text, and which of its parts are a message's content.
    /// - Throws: `TemplateError` when the template refuses the conversation (`raised`), fails, or
    ///   exceeds a limit.
    package func render(
        _ messages: [ChatMessage], addGenerationPrompt: Bool, tokens: TemplateTokens
    ) throws -> RenderedChat {
        var interpreter = TemplateInterpreter(template: name, date: date)
        let conversation = messages.enumerated().map { index, message in
            TemplateValue.mapping(
                TemplateMapping(
                    keys: [TemplateText("role"), TemplateText("content")],
                    values: [
                        .text(TemplateText(message.role)),
                        .text(TemplateText(message.content, origin: index)),
                    ]))
        }
        var variables: [String: TemplateValue] = [
            "messages": .list(try interpreter.collection(conversation)),
            "add_generation_prompt": .bool(addGenerationPrompt),
            "tools": .none,
            "documents": .none,
        ]
        variables["bos_token"] = tokens.begin.map { .text(TemplateText($0)) }
        variables["eos_token"] = tokens.end.map { .text(TemplateText($0)) }
        return RenderedChat(try interpreter.render(body, variables: variables))
    }
}

/// A rendered conversation and where its parts came from.
package struct RenderedChat: Sendable, Equatable {
    /// A stretch of the text with one origin.
    package struct Piece: Sendable, Equatable {
        package var text: String
        /// The message whose content this is (or what the template left of it after trimming),
        /// nil for the template's own text.
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

    package init(text: String, pieces: [Piece]) {
        self.text = text
        self.pieces = pieces
    }

    init(_ output: TemplateText) {
        text = output.string
        var start = 0
        pieces = output.runs.map { run in
            defer { start = run.end }
            return Piece(
                text: String(decoding: output.bytes[start..<run.end], as: UTF8.self),
                messageIndex: run.origin)
        }
    }
}
