@testable import SkeinGrammar

/// Small vocabularies for tests.
enum Vocabularies {
    /// Every byte, and a few longer tokens as byte-level BPE has them.
    static let bytes = TokenVocabulary(
        tokens: (0...255).map { [UInt8($0)] } + words.map { Array($0.utf8) } + parts + [nil, nil])

    /// The same without tokens of one byte for punctuation: only pairs and longer.
    static let withoutPunctuation = TokenVocabulary(
        tokens: (0...255).map { byte in
            "{}[]\",:".utf8.contains(UInt8(byte)) ? nil : [UInt8(byte)]
        } + (words + pairs).map { Array($0.utf8) })

    private static let words = [
        "{\"", "\":", "\": ", "\": \"", "\",", "\", \"", "\"}", "\"}]", "},{", "}}", "]]", ", \"",
        "[[", "[]", "{}", "\"\"", "null", "true", "false", "name", "an", "ab", "abc", " a", " the",
        "00", "12", "123", "1.", ".5", "-1", ",1", ", 1", "é", "日本", "\\n", "\\\"", "\\u00",
    ]
    private static let parts: [[UInt8]] = [
        [0xE6, 0x97], [0xA5, 0xE6], [0x22, 0xF0], [0x9F, 0x98],
    ]
    private static let pairs = [
        "{\"a", "\"a", "a\"", "\"b", "b\"", "\":1", "1,", "1}", "1]", "[1", ",2", "2}", "2]", "0]",
        "0}", "0,", "e}", "e]", "e,", "l}", "l]", "l,", "[t", "[f", "[n", "[{\"", "\"]", "[\"",
        "\":{\"", "\":[", "\":t", "\":f", "\":n", "\":0", "\":-", "}]", "]}", "],", "}\u{2C}",
    ]
}

extension GrammarMatcher {
    /// Writes a value with a model that chooses any allowed token, and the end where it can.
    mutating func write(
        with random: inout some RandomNumberGenerator, segment: ([UInt8]) -> [Int32] = { _ in [] }
    ) throws -> String {
        while true {
            for token in try forcedRun(segment: segment) { try accept(token) }
            switch try next() {
            case .end: return String(decoding: bytes, as: UTF8.self)
            case .only(let token): try accept(token)
            case .choice(_, let mask):
                let tokens = mask.tokens.tokens
                let pick = Int.random(
                    in: 0..<(tokens.count + (mask.allowsEnd ? 1 : 0)), using: &random)
                if pick == tokens.count { return String(decoding: bytes, as: UTF8.self) }
                try accept(tokens[pick])
            }
        }
    }
}
