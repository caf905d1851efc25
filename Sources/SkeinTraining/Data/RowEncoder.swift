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

/// Which assistant turns of a conversation carry loss (`--train-on`).
package enum TrainedTurns: String, Sendable, CaseIterable {
    case all
    case last
}

/// Encodes rows as token ids and loss positions, as README.md and `skein train --help` describe.
///
/// Rows of text, and pairs without a template, begin with the begin token if the model expects one;
/// a template writes its own, or none.
/// Prompt side and trained content are encoded separately, so that no token straddles the border:
/// the model is trained on exactly the ids that it must continue at inference.
package struct RowEncoder: Sendable {
    /// Raised when this code, the tokenizer or the template may give a row other tokens than
    /// before: cached tokens are not used then.
    static let version = 2

    package let encoder: TextEncoder
    /// Never `auto`.
    package let format: PromptFormat
    package let trainedTurns: TrainedTurns
    package let maximumLength: Int
    /// The token with which the template ends an assistant's turn. Only pairs need it, so a
    /// template without one can still be used for other rows.
    private let endOfTurn: Result<Int32, any Error>

    /// - Parameters:
    ///   - encoder: the tokenizer and template.
    ///   - format: from the options; `auto` is resolved here.
    ///   - trainedTurns: which assistant turns carry loss.
    ///   - maximumLength: rows are cut at the right to this many tokens.
    /// - Throws: `TrainingError.noTemplate`, `.noEndToken`.
    package init(
        encoder: TextEncoder, format: PromptFormat, trainedTurns: TrainedTurns,
        maximumLength: Int
    ) throws {
        let hasTemplate = encoder.renderChat != nil
        if format == .chat, !hasTemplate { throw TrainingError.noTemplate }
        self.format = format == .auto ? (hasTemplate ? .chat : .eos) : format
        if self.format != .chat, encoder.endID == nil { throw TrainingError.noEndToken }
        self.encoder = encoder
        self.trainedTurns = trainedTurns
        self.maximumLength = maximumLength
        endOfTurn = Result { try Self.endOfTurn(of: encoder) }
    }

    /// Ids and loss positions of one row before the cut.
    struct Draft {
        var ids: [Int32] = []
        var targets: [Range<Int>] = []

        /// Tokens up to the last one with loss, or all when there is none.
        var usefulCount: Int { targets.last?.upperBound ?? ids.count }

        mutating func append(_ more: [Int32], trained: Bool = false) {
            if trained, !more.isEmpty { targets.append(ids.count..<(ids.count + more.count)) }
            ids += more
        }
    }

    /// Encodes one row.
    ///
    /// - Throws: `TrainingError.conversationWithoutTemplate` (without a place, which the caller
    ///   knows), `.noEndToken`, `.noEndOfTurn`, and what the template throws.
    func draft(_ row: PairRow) throws -> Draft {
        switch row {
        case .text(let text):
            guard let end = encoder.endID else { throw TrainingError.noEndToken }
            var draft = Draft()
            draft.append(encoder.encodeWhole(text) + [end], trained: true)
            return draft
        case .pair(let prompt, let completion):
            return try pairDraft(prompt: prompt, completion: completion)
        case .conversation(let turns):
            guard format == .chat, let render = encoder.renderChat else {
                throw TrainingError.conversationWithoutTemplate(path: "", line: 0)
            }
            return try conversationDraft(turns, pieces: render(turns, false))
        }
    }

    private func pairDraft(prompt: String, completion: String) throws -> Draft {
        var draft = Draft()
        let end: Int32
        if format == .chat, let render = encoder.renderChat {
            let pieces = try render([ChatTurn(role: "user", content: prompt)], true)
            draft.append(encoder.encode(pieces.map(\.text).joined()))
            end = try endOfTurn.get()
        } else {
            guard let endID = encoder.endID else { throw TrainingError.noEndToken }
            draft.append(encoder.encodeWhole(prompt) + (format == .eos ? [endID] : []))
            end = endID
        }
        draft.append(encoder.encode(completion) + [end], trained: true)
        return draft
    }

    /// Encodes a conversation: everything between two assistant contents (template text and the
    /// other roles' contents) as one text, every assistant content by itself. A turn that the
    /// template writes in several pieces is one content from the first piece to the last.
    private func conversationDraft(_ turns: [ChatTurn], pieces: [ChatPiece]) throws -> Draft {
        let lastAssistant = turns.lastIndex(where: \.isAssistant)
        var lastPiece: [Int: Int] = [:]
        for (index, piece) in pieces.enumerated() {
            if let turn = piece.turn, turns.indices.contains(turn), turns[turn].isAssistant {
                lastPiece[turn] = index
            }
        }
        var draft = Draft()
        var between = ""
        // If `between` begins with the end of an assistant's turn: whether that turn carries loss.
        var endsTrainedTurn: Bool?
        func flush() throws {
            var ids = encoder.encode(between)
            if let trained = endsTrainedTurn {
                let end = try Self.firstEndOfTurn(ids, of: between, encoder)
                draft.append([end], trained: trained)
                ids.removeFirst()
            }
            draft.append(ids)
            between = ""
        }
        var index = 0
        while index < pieces.count {
            guard let turn = pieces[index].turn, let last = lastPiece[turn] else {
                between += pieces[index].text
                index += 1
                continue
            }
            try flush()
            let trained = trainedTurns == .all || turn == lastAssistant
            let content = pieces[index...last].map(\.text).joined()
            draft.append(encoder.encode(content), trained: trained)
            endsTrainedTurn = trained
            index = last + 1
        }
        try flush()
        return draft
    }

    /// Finds the template's end-of-turn token by rendering a conversation.
    private static func endOfTurn(of encoder: TextEncoder) throws -> Int32 {
        guard let render = encoder.renderChat else { throw TrainingError.noTemplate }
        let turns = [
            ChatTurn(role: "user", content: "a"), ChatTurn(role: "assistant", content: "b"),
        ]
        let pieces = try render(turns, false)
        let content = pieces.lastIndex { $0.turn == 1 }
        let after = pieces[(content.map { $0 + 1 } ?? pieces.count)...].map(\.text).joined()
        return try firstEndOfTurn(encoder.encode(after), of: after, encoder)
    }

    private static func firstEndOfTurn(
        _ ids: [Int32], of text: String, _ encoder: TextEncoder
    ) throws -> Int32 {
        guard let first = ids.first, encoder.endOfTurnIDs.contains(first) else {
            throw TrainingError.noEndOfTurn(found: text)
        }
        return first
    }
}
