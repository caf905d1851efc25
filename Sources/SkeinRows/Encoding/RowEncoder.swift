import SkeinJSON
import SkeinText

/// How a prompt and a completion become one row of tokens (`--prompt-format`).
package enum PromptFormat: String, Sendable, CaseIterable {
    /// `chat` when the model has a template, else `eos`.
    case auto
    case chat
    /// prompt, end token, completion, end token.
    case eos
    /// prompt, completion, end token.
    case raw
}

extension ChatTemplateSettings {
    /// Refuses settings for rows that no template renders: nothing would show that they were ignored.
    ///
    /// - Throws: `ChatTemplateError.withoutTemplate`.
    package func check(for format: PromptFormat) throws(ChatTemplateError) {
        guard [.eos, .raw].contains(format) else { return }
        let given = [
            ("chat-template", template != nil), ("template-argument", !arguments.isEmpty),
            ("template-date", date != nil),
        ]
        for (option, isGiven) in given where isGiven {
            throw .withoutTemplate(option: option, format: format.rawValue)
        }
    }
}

/// Which assistant turns of a conversation carry loss (`--train-on`).
package enum TrainedTurns: String, Sendable, CaseIterable {
    case all
    case last
}

/// Encodes rows as token ids and loss positions, as docs/DATA.md and `skein train --help` describe.
///
/// Rows of text, and pairs without a template, begin with the begin token if the model expects one;
/// a template writes its own, or none.
/// Prompt side and trained content are encoded separately, so that no token straddles the border:
/// the model is trained on exactly the ids that it must continue at inference.
package struct RowEncoder: Sendable {
    /// Raised when this code, the tokenizer or the template may give a row other tokens than
    /// before: cached tokens are not used then.
    /// Version 5: pairs in chat format are conversations; a system and tools beside them are read;
    /// a text's end token stands once.
    /// Version 6: an empty content beside calls is no content where the template tells them apart.
    package static let version = 6

    package let encoder: TextEncoder
    /// Never `auto`.
    package let format: PromptFormat
    package let trainedTurns: TrainedTurns
    package let maximumLength: Int
    /// Whether rows are pairs of answers, for a loss that compares them; no other rows are encoded.
    package let comparesAnswers: Bool
    /// Rows of text are cut into rows of at most so many tokens (`--text-chunks`); nil: they lose what
    /// is beyond `maximumLength`.
    package let chunkLength: Int?

    /// - Parameters:
    ///   - encoder: the tokenizer and template.
    ///   - format: from the options; `auto` is resolved here.
    ///   - trainedTurns: which assistant turns carry loss.
    ///   - maximumLength: rows are cut at the right to this many tokens.
    ///   - comparesAnswers: whether rows are pairs of answers.
    ///   - chunkLength: tokens of the rows into which long texts are cut; nil: they are not.
    /// - Throws: `RowError.noTemplate`, `.noEndToken`.
    package init(
        encoder: TextEncoder, format: PromptFormat, trainedTurns: TrainedTurns,
        maximumLength: Int, comparesAnswers: Bool = false, chunkLength: Int? = nil
    ) throws {
        self.comparesAnswers = comparesAnswers
        self.chunkLength = chunkLength
        let hasTemplate = encoder.renderChat != nil
        if format == .chat, !hasTemplate { throw RowError.noTemplate }
        self.format = format == .auto ? (hasTemplate ? .chat : .eos) : format
        if self.format != .chat, encoder.endID == nil { throw RowError.noEndToken }
        self.encoder = encoder
        self.trainedTurns = trainedTurns
        self.maximumLength = maximumLength
    }

    /// Ids and loss positions of one row before the cut.
    package struct Draft {
        package var ids: [Int32] = []
        package var targets: [Range<Int>] = []
        /// What the template made of the row.
        var remarks = RowRemarks()

        /// Tokens up to the last one with loss, or all when there is none.
        var usefulCount: Int { targets.last?.upperBound ?? ids.count }

        mutating func append(_ more: [Int32], trained: Bool = false) {
            if trained, !more.isEmpty { targets.append(ids.count..<(ids.count + more.count)) }
            ids += more
        }

        /// Appends the end token, unless it stands there: a data set may have written it.
        mutating func end(with id: Int32, trained: Bool = false) {
            if ids.last != id { append([id], trained: trained) }
        }
    }

    /// Encodes one row: as one sequence, unless it is a conversation whose template rewrites earlier
    /// turns.
    ///
    /// - Returns: at least one draft; of a pair of answers two, the chosen one first.
    /// - Throws: `RowError.conversationWithoutTemplate` and `.noEndOfTurn` (without a place,
    ///   which the caller knows), `.noEndToken`, `ChatSequenceError`, and what the template throws.
    package func drafts(_ row: PairRow) throws -> [Draft] {
        guard case .preference(let chosen, let rejected) = row else {
            guard !comparesAnswers else {
                throw RowError.otherLoss(path: "", line: 0, isPreference: false)
            }
            return try singleDrafts(row)
        }
        guard comparesAnswers else {
            throw RowError.otherLoss(path: "", line: 0, isPreference: true)
        }
        return try [chosen, rejected].map { answer in
            let drafts = try singleDrafts(answer)
            guard drafts.count == 1 else {
                throw RowError.answerInParts(path: "", line: 0)
            }
            return drafts[0]
        }
    }

    private func singleDrafts(_ row: PairRow) throws -> [Draft] {
        switch row {
        case .preference: preconditionFailure("the answer of a pair is no pair")
        case .text(let text):
            guard let end = encoder.endID else { throw RowError.noEndToken }
            var draft = Draft()
            var ids = try encoder.encodeWhole(text)
            if ids.last != end { ids.append(end) }
            draft.append(ids, trained: true)
            return [draft]
        case .pair(let prompt, let completion) where format == .chat:
            let drafts = try conversation(
                [
                    ChatTurn(role: "user", content: prompt),
                    ChatTurn(role: "assistant", content: completion),
                ], tools: nil)
            // It is all that there is to learn.
            guard
                completion.allSatisfy(\.isWhitespace)
                    || !drafts.contains(where: { $0.remarks.contains(.lostTurn) })
            else {
                throw RowError.lostAnswer(path: "", line: 0)
            }
            return drafts
        case .pair(let prompt, let completion):
            return [try pairDraft(prompt: prompt, completion: completion)]
        case .conversation(let turns, let tools):
            guard format == .chat else {
                throw RowError.conversationWithoutTemplate(path: "", line: 0)
            }
            return try conversation(turns, tools: tools)
        }
    }

    private func pairDraft(prompt: String, completion: String) throws -> Draft {
        guard let end = encoder.endID else { throw RowError.noEndToken }
        var draft = Draft()
        try draft.append(encoder.encodeWhole(prompt))
        if format == .eos { draft.end(with: end) }
        var said = try encoder.encodeAfter(completion, draft.ids.last)
        if said.last != end { said.append(end) }
        draft.append(said, trained: true)
        return draft
    }

    /// Messages from which on the beginnings of a conversation are rendered at once. The tokens are
    /// the same either way; rendering each again takes the square of the messages.
    static let sharedMessages = 8

    /// Encodes a conversation as the template renders it.
    private func conversation(_ turns: [ChatTurn], tools: JSONValue?) throws -> [Draft] {
        guard let render = encoder.renderChat else { throw RowError.noTemplate }
        let chat = try encoder.prepareChat(turns.map(\.message), tools)
        let prepared = zip(chat.messages, chat.places).map { message, place in
            ChatTurn(message: message, isTrained: place.map { turns[$0].isTrained } ?? false)
        }
        let assistants = prepared.indices.filter { prepared[$0].isAssistant }
        let trained = Set(
            assistants.filter {
                prepared[$0].isTrained && (trainedTurns == .all || $0 == assistants.last)
            })
        let empty = Set(assistants.filter { prepared[$0].isEmpty })
        let wanted = ChatSequence.beginnings(
            assistants: assistants, empty: empty, count: prepared.count)
        let beginnings =
            prepared.count >= Self.sharedMessages ? encoder.renderBeginnings(chat, wanted) : nil
        let sequences = try ChatSequence.sequences(
            assistants: assistants, trained: trained, empty: empty, count: prepared.count,
            ends: encoder.endOfTurnTexts,
            rendering: {
                try beginnings?.rendering($0, addsPrompt: $1)
                    ?? ChatRendering(try render(chat, $0, $1))
            })
        var drafts = try sequences.map(draft)
        let learned = sequences.flatMap(\.turns).filter(\.isTrained)
        if !trained.isSubset(of: Set(learned.map(\.message))) {
            drafts[0].remarks.insert(.lostTurn)
        }
        if chat.losesPart { drafts[0].remarks.insert(.lostPart) }
        if learned.contains(where: { !$0.followsPrompt }) { drafts[0].remarks.insert(.otherPrompt) }
        if turns.contains(where: { !encoder.knowsRole($0.role) }) {
            drafts[0].remarks.insert(.unknownRole)
        }
        return drafts
    }

    /// Encodes a sequence: everything between two assistants' turns (template text and the other
    /// roles' contents) as one text, and what an assistant says by itself.
    private func draft(_ sequence: ChatSequence) throws -> Draft {
        var draft = Draft()
        var next = 0
        // If the text from `next` begins with the end of an assistant's turn: whether that turn
        // carries loss.
        var endsTrainedTurn: Bool?
        func appendText(upTo end: Int) throws {
            let between = String(decoding: sequence.text[next..<end], as: UTF8.self)
            var ids = try encoder.encodeAfter(between, draft.ids.last)
            if let trained = endsTrainedTurn {
                let end = try Self.firstEndOfTurn(ids, of: between, encoder)
                draft.append([end], trained: trained)
                ids.removeFirst()
            }
            draft.append(ids)
        }
        for turn in sequence.turns {
            try appendText(upTo: turn.said.lowerBound)
            let said = String(decoding: sequence.text[turn.said], as: UTF8.self)
            try draft.append(encoder.encodeAfter(said, draft.ids.last), trained: turn.isTrained)
            endsTrainedTurn = turn.isComplete ? nil : turn.isTrained
            next = turn.said.upperBound
        }
        try appendText(upTo: sequence.text.count)
        return draft
    }

    private static func firstEndOfTurn(
        _ ids: [Int32], of text: String, _ encoder: TextEncoder
    ) throws -> Int32 {
        guard let first = ids.first, encoder.endOfTurnIDs.contains(first) else {
            throw RowError.noEndOfTurn(found: text, path: "", line: 0)
        }
        return first
    }
}
