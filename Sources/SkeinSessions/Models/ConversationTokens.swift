import SkeinInference
import SkeinJSON
import SkeinText

/// Cuts rendered conversations into tokens.
struct ConversationTokens: Sendable {
    let prompts: ChatPrompts
    let tokenizer: Tokenizer
    /// Whether the template writes system messages; if not, their text begins the first user turn.
    let takesSystem: Bool
    /// The token that begins a call, where the model has one for it. Then a reply without calls is one
    /// in which it cannot come, and the prompt is the same as with calls; without such a token the model
    /// is not told of the tools.
    let marker: Int32?
    /// Whether the template refuses two turns of the user in a row, as a request leaves them that was
    /// cancelled; then they are one.
    let joinsTurns: Bool
    /// Whether the template drops spaces around what the user says.
    let trims: Bool

    init(_ prompts: ChatPrompts, _ tokenizer: Tokenizer) {
        self.prompts = prompts
        self.tokenizer = tokenizer
        takesSystem = Self.takesSystem(prompts)
        marker = tokenizer.id(of: prompts.format.marker)
        func text(_ contents: String...) -> String? {
            // A template that refuses a probe does not do what is probed.
            try? prompts.rendered(
                contents.map { ChatMessage(role: "user", content: $0) }, tools: [], choice: .none,
                addsPrompt: true
            ).text
        }
        joinsTurns = text("a", "b") == nil
        trims =
            text("\n skein_probe \n").map { !$0.utf8.contains("\n skein_probe \n".utf8) } ?? false
    }

    /// Whether the text of a system message reaches the prompt.
    private static func takesSystem(_ prompts: ChatPrompts) -> Bool {
        let word = "skein_probe"
        let probe = [
            ChatMessage(role: "system", content: word), ChatMessage(role: "user", content: "q"),
        ]
        // A template that refuses a system message does not take it.
        let chat = try? prompts.rendered(
            probe, tools: [], choice: .none, addsPrompt: true)
        return chat?.text.utf8.contains(word.utf8) ?? false
    }

    /// The tokens of a conversation.
    ///
    /// The text is cut into tokens as a whole, as the server does, but for the blocks: what they add does
    /// not depend on what is around them.
    ///
    /// - Parameters:
    ///   - conversation: to be rendered.
    ///   - addsReply: whether it ends with the beginning of a reply.
    /// - Returns: its tokens, none if the template writes nothing.
    /// - Throws: what rendering and cutting throw.
    func ids(of conversation: Conversation, addsReply: Bool = true) throws -> [Int32] {
        var messages =
            takesSystem ? conversation.messages : Self.merging(conversation.messages)
        if joinsTurns { messages = Self.joining(messages) }
        if trims { messages = Self.trimming(messages, blocks: conversation.blocks) }
        let chat = try prompts.rendered(
            messages, tools: conversation.shownTools, choice: shown(conversation),
            usesTools: !conversation.tools.isEmpty,
            addsPrompt: addsReply)
        if conversation.blocks.isEmpty { return try tokenizer.ids(of: chat.text) }
        var ids: [Int32] = []
        for part in Self.parts(chat, blocks: conversation.blocks) {
            ids += try tokenizer.ids(of: part, after: ids.last)
        }
        return ids
    }

    private func shown(_ conversation: Conversation) -> ToolChoice {
        if conversation.choice == .none, marker != nil, !conversation.tools.isEmpty {
            return .auto
        }
        return conversation.choice
    }

    /// The text before, in and after each block.
    private static func parts(_ chat: RenderedChat, blocks: [String]) -> [String] {
        var parts: [String] = []
        var open = ""
        for piece in chat.pieces {
            open += piece.text
            guard piece.messageIndex != nil,
                let block = blocks.first(where: { piece.text.utf8.ends(with: $0.utf8) })
            else { continue }
            let before = String(decoding: open.utf8.dropLast(block.utf8.count), as: UTF8.self)
            parts += [before, block]
            open = ""
        }
        parts.append(open)
        return parts.filter { !$0.isEmpty }
    }

    /// Turns of the user that follow each other as one.
    private static func joining(_ messages: [ChatMessage]) -> [ChatMessage] {
        var joined: [ChatMessage] = []
        for message in messages {
            if message.role == "user", let last = joined.last, last.role == "user" {
                let texts = [last, message].map { $0["content"]?.string ?? "" }
                joined[joined.count - 1] = ChatMessage(
                    role: "user", content: texts.joined(separator: "\n\n"))
            } else {
                joined.append(message)
            }
        }
        return joined
    }

    /// Drops the spaces before a block that the template would drop without it, so that the block adds
    /// its own tokens and no others.
    private static func trimming(_ messages: [ChatMessage], blocks: [String]) -> [ChatMessage] {
        messages.map { message in
            guard message.role == "user", let text = message["content"]?.string,
                let block = blocks.first(where: { text.utf8.ends(with: $0.utf8) })
            else { return message }
            var before = Substring(
                String(decoding: text.utf8.dropLast(block.utf8.count), as: UTF8.self))
            while before.last?.isWhitespace == true { before.removeLast() }
            return ChatMessage(role: "user", content: before + block)
        }
    }

    /// The system message as the beginning of the first user turn.
    private static func merging(_ messages: [ChatMessage]) -> [ChatMessage] {
        guard let first = messages.first, first.role == "system" else { return messages }
        var rest = Array(messages.dropFirst())
        let text = first["content"]?.string ?? ""
        guard !text.isEmpty else { return rest }
        if let next = rest.first, next.role == "user" {
            rest[0] = ChatMessage(
                role: "user", content: text + "\n\n" + (next["content"]?.string ?? ""))
        } else {
            rest.insert(ChatMessage(role: "user", content: text), at: 0)
        }
        return rest
    }
}

extension Collection<UInt8> where Self: BidirectionalCollection {
    /// Whether it ends with these bytes.
    fileprivate func ends(with end: some BidirectionalCollection<UInt8>) -> Bool {
        count >= end.count && suffix(end.count).elementsEqual(end)
    }
}

extension Collection<UInt8> {
    /// Whether these bytes stand somewhere in it.
    fileprivate func contains(_ wanted: some Collection<UInt8>) -> Bool {
        indices.contains { self[$0...].starts(with: wanted) }
    }
}
