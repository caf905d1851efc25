import SkeinFormats
import SkeinJSON

/// Conversations as a model's template renders them: one way for the rows of training, for prompts
/// and for requests.
package struct ChatRenderer: Sendable {
    private struct Side {
        let template: ChatTemplate
        let preparation: ConversationPreparation
    }

    private let plain: Result<Side, any Error>
    /// What a model has for conversations with tools; the plain one if it has no other.
    private let withTools: Result<Side, any Error>
    /// Variables for the template (`--template-argument`).
    package let arguments: [JSONField]
    private let tokens: TemplateTokens

    /// nil if the model has no template. One that cannot be used is an error of each conversation that
    /// needs it.
    ///
    /// - Parameters:
    ///   - model: whose template it is, unless the settings say another one.
    ///   - settings: which template, and what it sees.
    ///   - tokenizer: of the model.
    ///   - name: of the template in errors; nil: as the settings have it, with its path.
    /// - Throws: `ChatTemplateError`, `FileError`.
    package init?(
        _ model: ModelFiles, _ settings: ChatTemplateSettings, _ tokenizer: Tokenizer,
        name: String? = nil
    ) throws {
        guard let source = try settings.source(for: model) else { return nil }
        let other = try settings.source(for: model, hasTools: true) ?? source
        func side(_ source: (text: String, name: String)) -> Result<Side, any Error> {
            Result {
                let template = try ChatTemplate(
                    source: source.text, name: name ?? source.name, date: settings.today)
                return Side(
                    template: template, preparation: ConversationPreparation(template, tokenizer))
            }
        }
        plain = side(source)
        withTools = other.text.isSame(as: source.text) ? plain : side(other)
        arguments = settings.arguments
        tokens = tokenizer.templateTokens
    }

    /// The template for conversations without tools.
    ///
    /// - Throws: what reading it threw.
    package var template: ChatTemplate { get throws { try plain.get().template } }

    /// All templates that can be used.
    package var templates: [ChatTemplate] {
        // A side that failed throws why when a conversation needs it.
        [plain, withTools].compactMap { try? $0.get().template }
    }

    /// How answers with calls are read.
    package var format: ToolFormat {
        // A side that failed throws why when a conversation needs it.
        (try? withTools.get().preparation.format) ?? .described
    }

    /// Whether templates, or this one, know a speaker of this name.
    package func knowsRole(_ name: String) -> Bool {
        // A side that failed throws why when a conversation needs it.
        (try? plain.get().preparation.knowsRole(name)) ?? true
    }

    /// Makes a conversation ready to be rendered.
    ///
    /// - Parameters:
    ///   - messages: as they came.
    ///   - tools: a list of definitions; nil or empty: none are shown.
    ///   - usesTools: whether the template for conversations with tools is the right one even if none
    ///     are shown.
    ///   - use: what for.
    /// - Returns: what `render` takes.
    /// - Throws: `ToolProblem`; what reading the template threw.
    package func prepared(
        _ messages: [ChatMessage], tools: JSONValue? = nil, usesTools: Bool = false,
        for use: ConversationPreparation.Use = .text
    ) throws -> PreparedChat {
        let usesTools = usesTools || tools?.list?.isEmpty == false
        let preparation = try (usesTools ? withTools : plain).get().preparation
        let hasTools = tools?.list?.isEmpty == false
        let (prepared, shown) = try preparation.prepared(messages, tools: tools, for: use)
        var chat = PreparedChat(
            messages: prepared.map(\.message), places: prepared.map(\.place), tools: shown,
            usesTools: usesTools)
        chat.losesPart = messages.contains {
            preparation.losesPart(of: $0, tools: hasTools, for: use)
        }
        return chat
    }

    /// The text of a conversation, and which message each part of it is from.
    ///
    /// - Parameters:
    ///   - chat: the conversation.
    ///   - count: of messages from its beginning; nil: all.
    ///   - extra: variables for the template, before those of the same names in its settings.
    ///   - addsPrompt: whether the text ends with the beginning of an answer.
    /// - Returns: the text in pieces; their indices are those of `chat.messages`.
    /// - Throws: what reading and rendering the template throws.
    package func render(
        _ chat: PreparedChat, first count: Int? = nil, arguments extra: [JSONField] = [],
        addsPrompt: Bool
    ) throws -> RenderedChat {
        let own = arguments.filter { own in
            !extra.contains { $0.name.isSame(as: own.name) }
        }
        return try (chat.usesTools ? withTools : plain).get().template.render(
            Array(chat.messages.prefix(count ?? chat.messages.count)),
            addGenerationPrompt: addsPrompt, tokens: tokens, tools: chat.tools,
            arguments: own + extra)
    }

    /// Beginnings of a conversation, rendered at once; nil if `render` has to render each.
    package func beginnings(
        _ beginnings: Set<ChatBeginnings.Beginning>, of chat: PreparedChat
    ) -> ChatBeginnings? {
        // `render` throws why there is none.
        guard let side = try? (chat.usesTools ? withTools : plain).get() else { return nil }
        return side.template.beginnings(
            beginnings, of: chat.messages, tokens: tokens, tools: chat.tools,
            arguments: arguments)
    }
}

/// A conversation as the template takes it.
package struct PreparedChat: Sendable, Equatable {
    package var messages: [ChatMessage]
    /// For each message the place of the one that it is made of; of several results in one turn the
    /// first. nil: it explains the tools.
    package var places: [Int?]
    /// Those that the template shows; nil if it shows none.
    package var tools: JSONValue?
    /// Whether the template for conversations with tools renders it.
    package var usesTools: Bool
    /// Whether the template leaves out the calls or the words of a turn that has both.
    package var losesPart = false

    package init(
        messages: [ChatMessage], places: [Int?], tools: JSONValue?, usesTools: Bool
    ) {
        self.messages = messages
        self.places = places
        self.tools = tools
        self.usesTools = usesTools
    }
}
