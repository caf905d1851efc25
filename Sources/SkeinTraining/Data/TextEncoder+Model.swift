import SkeinModels
import SkeinText

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
