import SkeinBasics
import SkeinModels
import SkeinText

/// What the training data needs from a tokenizer and its chat template, as functions, so that rows
/// can be encoded and tested without a model.
package struct TextEncoder: Sendable {
    /// Ids of a text; special tokens in it are recognized; nothing is added at either end.
    package var encode: @Sendable (String) throws -> [Int32]
    /// The same for a text that follows a token, if there is one.
    package var encodeAfter: @Sendable (String, Int32?) throws -> [Int32]
    /// The same for a text that begins a row and does not come from a template: with the begin
    /// token before it if the model expects one.
    package var encodeWhole: @Sendable (String) throws -> [Int32]
    /// The text of ids, for the example in the data report.
    package var decode: @Sendable ([Int32]) -> String
    /// The model's chat template: (turns, tools, add the generation prompt) -> text and where it
    /// came from; nil if it has none.
    package var renderChat: (@Sendable ([ChatTurn], ChatJSON?, Bool) throws -> RenderedChat)?
    /// The end-of-text token.
    package var endID: Int32?
    /// Tokens that may end an assistant's turn.
    package var endOfTurnIDs: Set<Int32>
    /// The texts of `endOfTurnIDs`.
    var endOfTurnTexts: [[UInt8]] {
        endOfTurnIDs.sorted().map { Array(decode([$0]).utf8) }
    }
    /// SHA-256 of everything that these functions and ids depend on; nil if unknown. Encoders with
    /// the same digest give the same ids for the same rows.
    package var digest: SHA256.Digest?

    /// What `encodeWhole` puts before a text; nil if nothing.
    var beginToken: String? {
        // The empty text is not too long for any expression.
        guard let ids = try? encodeWhole(""), let bare = try? encode("") else { return nil }
        return ids.isEmpty || ids == bare ? nil : decode(ids)
    }

    /// `encodeAfter` is nil where nothing depends on it, `encodeWhole` for a model without a begin
    /// token.
    package init(
        encode: @escaping @Sendable (String) throws -> [Int32],
        encodeAfter: (@Sendable (String, Int32?) throws -> [Int32])? = nil,
        encodeWhole: (@Sendable (String) throws -> [Int32])? = nil,
        decode: @escaping @Sendable ([Int32]) -> String,
        renderChat: (@Sendable ([ChatTurn], ChatJSON?, Bool) throws -> RenderedChat)?,
        endID: Int32?, endOfTurnIDs: Set<Int32>, digest: SHA256.Digest? = nil
    ) {
        self.encode = encode
        self.encodeAfter = encodeAfter ?? { text, _ in try encode(text) }
        self.encodeWhole = encodeWhole ?? encode
        self.decode = decode
        self.renderChat = renderChat
        self.endID = endID
        self.endOfTurnIDs = endOfTurnIDs
        self.digest = digest
    }
}

extension TextEncoder {
    /// The tokenizer and the chat template that came with a model.
    ///
    /// - Parameters:
    ///   - model: of the tokenizer, and of the template unless another one is given.
    ///   - given: which template, and what it sees.
    ///   - allowingUnusedArguments: whether arguments may be unknown to the template.
    /// - Throws: `TokenizerError`, `VocabularyError`, `TemplateError`, `ChatTemplateError`,
    ///   `FileError`.
    package init(
        model: ModelDirectory, template given: ChatTemplateSettings = ChatTemplateSettings(),
        allowingUnusedArguments: Bool = false
    ) throws {
        let tokenizer = try Tokenizer(model: model.raw)
        try VocabularyError.check(ids: tokenizer.vocabularySize, against: model)
        let chosen = try given.source(for: model.raw)
        let template = try chosen.map {
            try ChatTemplate(source: $0.text, name: $0.name, date: given.today)
        }
        // An error of a template that only tools need waits for them.
        let tools = try given.source(for: model.raw, hasTools: true)
        let other = tools.flatMap { $0.text == chosen?.text ? nil : $0 }
        let toolTemplate = other.map { other in
            Result { try ChatTemplate(source: other.text, name: other.name, date: given.today) }
        }
        if !allowingUnusedArguments {
            try given.check([template, try? toolTemplate?.get()].compactMap(\.self))
        }
        self.init(
            tokenizer: tokenizer, template: template,
            toolTemplate: toolTemplate, arguments: given.arguments)
        digest = Self.digest(
            tokenizer: tokenizer, template: chosen.map { ($0.text, given.today) },
            toolTemplate: other?.text, arguments: given.arguments)
    }

    /// `toolTemplate` takes the place of `template` for a conversation with tools, if there is one.
    package init(
        tokenizer: Tokenizer, template: ChatTemplate?,
        toolTemplate: Result<ChatTemplate, any Error>? = nil, arguments: [ChatMessage.Field] = []
    ) {
        let render = template.map { template in
            { @Sendable (turns: [ChatTurn], tools: ChatJSON?, addsPrompt: Bool) in
                let template = try tools == nil ? template : toolTemplate?.get() ?? template
                return try template.render(
                    turns.map(\.message), addGenerationPrompt: addsPrompt,
                    tokens: tokenizer.templateTokens, tools: tools, arguments: arguments)
            }
        }
        self.init(
            encode: { try tokenizer.ids(of: $0) },
            encodeAfter: { try tokenizer.ids(of: $0, after: $1) },
            encodeWhole: { try tokenizer.ids(ofWhole: $0) },
            decode: { tokenizer.decode($0) },
            renderChat: render, endID: tokenizer.endID, endOfTurnIDs: tokenizer.endOfTurnIDs)
    }
}
