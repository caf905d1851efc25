import SkeinRows
import SkeinText

/// A piece of a conversation that a test's template renders.
package struct ChatPiece {
    package var text: String
    package var turn: Int?

    package init(text: String, turn: Int? = nil) {
        self.text = text
        self.turn = turn
    }
}

extension RowEncoder {
    /// The row's first sequence.
    package func draft(_ row: PairRow) throws -> Draft { try drafts(row)[0] }
}

/// One token for each character, and special tokens such as `<user>`: enough to see where borders
/// and losses are.
package enum ToyTokenizer {
    package static let specials: [(text: String, id: Int32)] = [
        ("<end>", 1), ("<stop>", 2), ("<user>", 3), ("<bot>", 4), ("<sys>", 5),
    ]

    package static func encode(_ text: String) -> [Int32] {
        var ids: [Int32] = []
        var rest = Substring(text)
        while let character = rest.first {
            if let special = specials.first(where: { rest.hasPrefix($0.text) }) {
                ids.append(special.id)
                rest = rest.dropFirst(special.text.count)
            } else {
                ids.append(Int32(character.unicodeScalars.first?.value ?? 0) + 100)
                rest = rest.dropFirst()
            }
        }
        return ids
    }

    package static func decode(_ ids: [Int32]) -> String {
        ids.map { id in
            specials.first { $0.id == id }?.text
                ?? String(UnicodeScalar(UInt32(id - 100)).map(Character.init) ?? "?")
        }.joined()
    }

    /// `<user>text<stop>\n<bot>text<stop>\n`, and `<bot>` as the generation prompt.
    package static func render(_ turns: [ChatTurn], _ addsGenerationPrompt: Bool) -> [ChatPiece] {
        var pieces: [ChatPiece] = []
        for (index, turn) in turns.enumerated() {
            let opening =
                switch turn.role {
                case "assistant": "<bot>"
                case "system": "<sys>"
                default: "<user>"
                }
            pieces.append(ChatPiece(text: opening))
            pieces.append(ChatPiece(text: turn.content, turn: index))
            pieces.append(ChatPiece(text: "<stop>\n"))
        }
        if addsGenerationPrompt { pieces.append(ChatPiece(text: "<bot>")) }
        return pieces
    }

    package static func encoder(
        chat: (@Sendable ([ChatTurn], Bool) throws -> [ChatPiece])? = render, endID: Int32? = 1
    ) -> TextEncoder {
        TextEncoder(
            encode: encode, decode: decode,
            renderChat: chat.map { chat in
                { @Sendable (prepared: PreparedChat, count: Int, addsPrompt: Bool) in
                    let turns = prepared.messages.prefix(count).map { ChatTurn(message: $0) }
                    let pieces = try chat(turns, addsPrompt)
                    return RenderedChat(
                        text: pieces.map(\.text).joined(),
                        pieces: pieces.map { .init(text: $0.text, messageIndex: $0.turn) })
                }
            }, endID: endID,
            endOfTurnIDs: [1, 2])
    }
}
