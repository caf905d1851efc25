import SkeinBasics
import SkeinModels
import SkeinText

/// A piece of a rendered conversation: the template's own text, or what it wrote of a turn.
package struct ChatPiece: Sendable, Equatable {
    package var text: String
    /// Index of the turn whose content this is; nil for the template's own text.
    package var turn: Int?

    package init(text: String, turn: Int? = nil) {
        self.text = text
        self.turn = turn
    }
}

/// What the training data needs from a tokenizer and its chat template, as functions, so that rows
/// can be encoded and tested without a model.
package struct TextEncoder: Sendable {
    /// Ids of a text; special tokens in it are recognized; nothing is added at either end.
    package var encode: @Sendable (String) -> [Int32]
    /// The same for a text that begins a row and does not come from a template: with the begin
    /// token before it if the model expects one.
    package var encodeWhole: @Sendable (String) -> [Int32]
    /// The text of ids, for the example in the data report.
    package var decode: @Sendable ([Int32]) -> String
    /// The model's chat template: (turns, add the generation prompt) -> pieces in order; nil if it
    /// has none.
    package var renderChat: (@Sendable ([ChatTurn], Bool) throws -> [ChatPiece])?
    /// The end-of-text token.
    package var endID: Int32?
    /// Tokens that may end an assistant's turn.
    package var endOfTurnIDs: Set<Int32>
    /// SHA-256 of everything that these functions and ids depend on; nil if unknown. Encoders with
    /// the same digest give the same ids for the same rows.
    package var digest: SHA256.Digest?

    /// What `encodeWhole` puts before a text; nil if nothing.
    var beginToken: String? {
        let ids = encodeWhole("")
        return ids.isEmpty || ids == encode("") ? nil : decode(ids)
    }

    /// `encodeWhole` is nil for a model without a begin token.
    package init(
        encode: @escaping @Sendable (String) -> [Int32],
        encodeWhole: (@Sendable (String) -> [Int32])? = nil,
        decode: @escaping @Sendable ([Int32]) -> String,
        renderChat: (@Sendable ([ChatTurn], Bool) throws -> [ChatPiece])?,
        endID: Int32?, endOfTurnIDs: Set<Int32>, digest: SHA256.Digest? = nil
    ) {
        self.encode = encode
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
    /// - Throws: `TokenizerError`, `VocabularyError`, `TemplateError`, `FileError`.
    package init(model: ModelDirectory) throws {
        let tokenizer = try Tokenizer(model: model.raw)
        try VocabularyError.check(tokenizer, against: model)
        let template = try model.chatTemplate.map {
            try ChatTemplate(source: $0, name: "the chat template of \(model.path)")
        }
        self.init(tokenizer: tokenizer, template: template)
        var source: (String, TemplateDate)?
        if let text = model.chatTemplate, let template { source = (text, template.date) }
        digest = Self.digest(tokenizer: tokenizer, template: source)
    }

    package init(tokenizer: Tokenizer, template: ChatTemplate?) {
        let render = template.map { template in
            { @Sendable (turns: [ChatTurn], addsPrompt: Bool) throws -> [ChatPiece] in
                let messages = turns.map { ChatMessage(role: $0.role, content: $0.content) }
                return try template.render(
                    messages, addGenerationPrompt: addsPrompt, tokens: tokenizer.templateTokens
                ).pieces.map { ChatPiece(text: $0.text, turn: $0.messageIndex) }
            }
        }
        self.init(
            encode: { tokenizer.encode($0) }, encodeWhole: { tokenizer.encodeWhole($0) },
            decode: { tokenizer.decode($0) },
            renderChat: render, endID: tokenizer.endID, endOfTurnIDs: tokenizer.endOfTurnIDs)
    }
}
