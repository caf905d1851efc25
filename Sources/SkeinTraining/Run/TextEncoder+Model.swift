import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinText

extension TextEncoder {
    /// The tokenizer and the chat template that came with a model.
    ///
    /// - Parameters:
    ///   - model: of the tokenizer, and of the template unless another one is given.
    ///   - given: which template, and what it sees.
    ///   - allowingUnusedArguments: whether arguments may be unknown to the template.
    /// - Throws: `TokenizerError`, `TemplateError`, `ChatTemplateError`, `FileError`.
    package init(
        model: ModelDirectory, template given: ChatTemplateSettings = ChatTemplateSettings(),
        allowingUnusedArguments: Bool = false
    ) throws {
        let tokenizer = try Tokenizer(
            model: model.raw, embeddings: model.configuration.vocabularySize)
        let chat = try ChatRenderer(model.raw, given, tokenizer.embedded(in: nil))
        // An error of a template that only tools need waits for them.
        let template = try chat?.template
        if !allowingUnusedArguments, let chat { try given.check(chat.templates) }
        self.init(tokenizer: tokenizer, chat: chat)
        templateDigest = template.map { SHA256.digest(of: $0.source) }
        let other = try given.source(for: model.raw, hasTools: true)?.text
        digest = Self.digest(
            tokenizer: tokenizer, template: template.map { ($0.source, given.today) },
            toolTemplate: other.map { $0.isSame(as: template?.source ?? "") } == true ? nil : other,
            arguments: given.arguments)
    }
}
