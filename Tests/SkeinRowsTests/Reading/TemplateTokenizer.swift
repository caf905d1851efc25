import Foundation
import SkeinJSON
import SkeinText

@testable import SkeinRows

/// One token for each scalar, and one for each text that ends a turn, beside a chat template of one's
/// own or of others.
struct TemplateTokenizer {
    let ends: [String]

    init(ends: [String] = ["<end>", "<stop>"]) {
        // The longest first.
        self.ends = ends.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    func encode(_ text: String) -> [Int32] {
        var ids: [Int32] = []
        var rest = Substring(text)
        while let scalar = rest.unicodeScalars.first {
            if let place = ends.firstIndex(where: { rest.utf8.starts(with: $0.utf8) }) {
                ids.append(Int32(place))
                rest = Substring(rest.utf8.dropFirst(ends[place].utf8.count))
            } else {
                ids.append(Int32(scalar.value) + 1000)
                rest = Substring(rest.unicodeScalars.dropFirst())
            }
        }
        return ids
    }

    func decode(_ ids: [Int32]) -> String {
        ids.map { id in
            id < 1000
                ? ends[Int(id)]
                : String(UnicodeScalar(UInt32(id - 1000)).map(Character.init) ?? "?")
        }.joined()
    }

    /// - Parameters:
    ///   - source: the chat template.
    ///   - tokens: its `bos_token` and `eos_token`.
    ///   - arguments: variables for it.
    /// - Returns: an encoder whose end token is `<end>`.
    /// - Throws: `TemplateError`.
    func encoder(
        _ source: String, tokens: TemplateTokens = TemplateTokens(begin: "<s>", end: "<end>"),
        arguments: [JSONField] = []
    ) throws -> TextEncoder {
        let template = try ChatTemplate(source: source, name: "t")
        let preparation = ConversationPreparation(template, tokens: tokens, ends: ends)
        var encoder = TextEncoder(
            encode: encode, decode: decode,
            prepareChat: { messages, tools in
                let (prepared, shown) = try preparation.prepared(
                    messages, tools: tools, for: .text)
                var chat = PreparedChat(
                    messages: prepared.map(\.message), places: prepared.map(\.place), tools: shown,
                    usesTools: false)
                chat.losesPart = messages.contains {
                    preparation.losesPart(of: $0, tools: tools != nil, for: .text)
                }
                return chat
            },
            renderChat: { chat, count, addsPrompt in
                try template.render(
                    Array(chat.messages.prefix(count)), addGenerationPrompt: addsPrompt,
                    tokens: tokens, tools: chat.tools, arguments: arguments)
            }, knowsRole: preparation.knowsRole, endID: encode("<end>").first,
            endOfTurnIDs: Set(ends.flatMap(encode)))
        encoder.renderBeginnings = { chat, beginnings in
            template.beginnings(
                beginnings, of: chat.messages, tokens: tokens, tools: chat.tools,
                arguments: arguments)
        }
        return encoder
    }
}

extension RowEncoder {
    /// The sequences of a row as text, what is learned between « and ».
    func marked(_ row: PairRow) throws -> [String] {
        try drafts(row).map { draft in
            var text = ""
            var next = 0
            for target in draft.targets {
                text += encoder.decode(Array(draft.ids[next..<target.lowerBound]))
                text += "«" + encoder.decode(Array(draft.ids[target])) + "»"
                next = target.upperBound
            }
            return (text + encoder.decode(Array(draft.ids[next...]))).replacingOccurrences(
                of: "»«", with: "")
        }
    }
}
