import SkeinInference
import SkeinModels
import SkeinText

/// A conversation as a chat template takes it.
package struct Conversation: Sendable {
    package var messages: [ChatMessage]
    /// Ends of messages that are cut into tokens by themselves, so that each adds exactly its own
    /// tokens: the schemas of replies.
    package var blocks: [String]
    /// The tools that may be called.
    package var tools: [SkeinText.Tool]
    /// Those of them that the template shows to the model.
    package var shownTools: [SkeinText.Tool]
    package var choice: ToolChoice

    /// A conversation. Without `shownTools`, the template shows all tools.
    package init(
        messages: [ChatMessage], blocks: [String] = [], tools: [SkeinText.Tool] = [],
        shownTools: [SkeinText.Tool]? = nil, choice: ToolChoice = .none
    ) {
        self.messages = messages
        self.blocks = blocks
        self.tools = tools
        self.shownTools = shownTools ?? tools
        self.choice = choice
    }
}

/// A reply that is to be made.
package struct ReplyRequest: Sendable {
    package enum Form: Sendable {
        case text
        /// A value that a JSON schema allows.
        case schema([UInt8])
    }

    package var conversation: Conversation
    package var form: Form
    package var sampler: Sampler
    /// Tokens of the reply; nil: as many as the context leaves.
    package var maximumTokens: Int?
    /// The adapter, already in memory; nil: the base alone.
    package var adapter: Adapter?

    /// What one model is adapted with.
    package typealias Adapter = SystemLanguageModel.Adapter
}

/// What comes of a reply, in its order.
package enum ReplyUpdate: Sendable {
    /// More of its text.
    case text(String)
    /// A call begins.
    case callBegan(id: String, name: String)
    /// More of the last call's arguments; all together are the JSON text of an object.
    case arguments(String)
    /// The end; nothing comes after it.
    case finished(ReplyEnd)
}

/// How a reply ended and what it took.
package struct ReplyEnd: Sendable, Equatable {
    /// Whether the limit on tokens cut it short, or closed a value before the model would have.
    package var isCutShort: Bool
    package var promptTokens: Int
    /// Tokens of the prompt that were not computed, because the prefix cache had them.
    package var cachedTokens: Int
    package var replyTokens: Int
    /// Tokens that the reply could have had.
    package var tokenLimit: Int
}

/// What makes replies for sessions: a model of this machine (`LoadedModel`), or a script in tests.
/// The one seam between sessions and the engine.
package protocol ReplySource: Sendable {
    /// Tokens of a prompt and its reply together.
    var contextSize: Int { get }

    /// How tokens are picked where a request does not say.
    var sampling: SamplingRule { get }

    /// What comes of a reply, from its first token on. Ending the iteration, or cancelling the task that
    /// iterates, ends the work before another token is computed.
    func reply(to request: ReplyRequest) -> AsyncThrowingStream<ReplyUpdate, any Error>

    /// Tokens of a text by itself.
    func tokenCount(of text: String) async throws -> Int

    /// Tokens of a text that follows another one and is cut by itself, as a conversation's blocks are.
    func tokenCount(ofBlock text: String) async throws -> Int

    /// Tokens of a rendered conversation, with or without the beginning of a reply.
    func tokenCount(of conversation: Conversation, addsReply: Bool) async throws -> Int

    /// Compiles schemas and reads a conversation into the prefix cache.
    func warm(_ conversation: Conversation, schemas: [[UInt8]], adapter: ReplyRequest.Adapter?)
        async throws
}

extension ReplySource {
    package var sampling: SamplingRule { SamplingRule() }
}
