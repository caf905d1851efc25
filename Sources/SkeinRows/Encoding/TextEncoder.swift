import SkeinBasics
import SkeinJSON
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
    /// What the template is given of (messages, tools).
    package var prepareChat: @Sendable ([ChatMessage], JSONValue?) throws -> PreparedChat
    /// The model's chat template: (conversation, its first so many messages, add the generation
    /// prompt) -> text and where it came from; nil if it has none.
    package var renderChat: (@Sendable (PreparedChat, Int, Bool) throws -> RenderedChat)?
    /// Beginnings of a conversation, rendered at once; nil if `renderChat` has to render each.
    package var renderBeginnings:
        @Sendable (PreparedChat, Set<ChatBeginnings.Beginning>) -> ChatBeginnings? = { _, _ in nil }
    /// Whether the template knows a speaker of this name.
    package var knowsRole: @Sendable (String) -> Bool
    /// Refuses ids for which the model has no embedding.
    package var check: @Sendable ([Int32]) throws -> Void
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
    /// SHA-256 of the chat template's text; nil if there is none, or it is unknown.
    package var templateDigest: SHA256.Digest?

    /// What `encodeWhole` puts before a text; nil if nothing.
    package var beginToken: String? {
        // The empty text is not too long for any expression.
        guard let ids = try? encodeWhole(""), let bare = try? encode("") else { return nil }
        return ids.isEmpty || ids == bare ? nil : decode(ids)
    }

    /// `encodeAfter` is nil where nothing depends on it, `encodeWhole` for a model without a begin
    /// token, `prepareChat` for a template that takes conversations as they are.
    package init(
        encode: @escaping @Sendable (String) throws -> [Int32],
        encodeAfter: (@Sendable (String, Int32?) throws -> [Int32])? = nil,
        encodeWhole: (@Sendable (String) throws -> [Int32])? = nil,
        decode: @escaping @Sendable ([Int32]) -> String,
        prepareChat: (@Sendable ([ChatMessage], JSONValue?) throws -> PreparedChat)? = nil,
        renderChat: (@Sendable (PreparedChat, Int, Bool) throws -> RenderedChat)?,
        knowsRole: @escaping @Sendable (String) -> Bool = { _ in true },
        check: @escaping @Sendable ([Int32]) throws -> Void = { _ in },
        endID: Int32?, endOfTurnIDs: Set<Int32>, digest: SHA256.Digest? = nil
    ) {
        self.encode = encode
        self.encodeAfter = encodeAfter ?? { text, _ in try encode(text) }
        self.encodeWhole = encodeWhole ?? encode
        self.decode = decode
        self.prepareChat =
            prepareChat ?? { messages, tools in
                PreparedChat(
                    messages: messages, places: Array(messages.indices), tools: tools,
                    usesTools: tools != nil)
            }
        self.renderChat = renderChat
        self.knowsRole = knowsRole
        self.check = check
        self.endID = endID
        self.endOfTurnIDs = endOfTurnIDs
        self.digest = digest
    }
}

extension TextEncoder {
    /// Texts are encoded whatever their ids: a token that is cut off with the end of its row needs no
    /// embedding. `check` is for what is left.
    ///
    /// - Parameters:
    ///   - limited: the tokenizer of the model.
    ///   - chat: its template; nil if it has none.
    package init(tokenizer limited: Tokenizer, chat: ChatRenderer?) {
        let tokenizer = limited.embedded(in: nil)
        self.init(
            encode: { try tokenizer.ids(of: $0) },
            encodeAfter: { try tokenizer.ids(of: $0, after: $1) },
            encodeWhole: { try tokenizer.ids(ofWhole: $0) },
            decode: { tokenizer.decode($0) },
            prepareChat: chat.map { chat in
                { @Sendable in try chat.prepared($0, tools: $1) }
            },
            renderChat: chat.map { chat in
                { @Sendable in try chat.render($0, first: $1, addsPrompt: $2) }
            },
            knowsRole: { chat?.knowsRole($0) ?? true },
            check: { try limited.check($0) },
            endID: tokenizer.endID, endOfTurnIDs: tokenizer.endOfTurnIDs)
        if let chat { renderBeginnings = { chat.beginnings($1, of: $0) } }
    }
}
