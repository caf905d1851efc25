import SkeinGrammar
import SkeinTestSupport

@testable import SkeinInference
@testable import SkeinText

/// Byte-level tokenizers that are made for tests.
struct TestTokenizer {
    let tokenizer: Tokenizer
    let grammars: GrammarCache
    private let ids: [[UInt8]: Int32]

    init(_ tokenizer: Tokenizer) {
        self.tokenizer = tokenizer
        let written = tokenizer.writtenTokens
        grammars = GrammarCache(TokenVocabulary(tokens: written), count: 64)
        var ids: [[UInt8]: Int32] = [:]
        for (id, bytes) in written.enumerated() {
            if let bytes { ids[bytes] = ids[bytes] ?? Int32(id) }
        }
        self.ids = ids
    }

    /// One of the small tokenizers in Tests/Fixtures/tokenizers.
    init(fixture name: String) throws {
        self.init(
            try Tokenizer(
                tokenizerJSON: TestPaths.fixture("tokenizers/\(name).json"), tokenizerConfig: nil))
    }

    /// Every byte, some longer tokens, and added ones.
    init(
        words: [[UInt8]], addsPrefixSpace: Bool = false,
        added: [(text: String, isSpecial: Bool)] = []
    ) throws {
        let bytes = (0...255).map { [UInt8($0)] } + words
        var pieces = bytes.map { bytes in
            String(decoding: bytes.flatMap { ByteAlphabet.spelling(of: $0) }, as: UTF8.self)
        }
        let all = added + [("<|im_end|>", true)]
        pieces += all.map(\.text)
        var definition = TokenizerDefinition(
            source: "test", pieces: pieces, merges: [], preTokenizer: .whole)
        definition.firstRankedID = 256
        definition.addsPrefixSpace = addsPrefixSpace
        definition.ignoresMerges = true
        definition.addedTokens = all.enumerated().map { index, token in
            TokenizerDefinition.AddedToken(
                id: Int32(bytes.count + index), isSpecial: token.isSpecial)
        }
        definition.endID = Int32(pieces.count - 1)
        self.init(try Tokenizer(definition))
    }

    /// Longer tokens by merging neighbours of a text again and again, as training does.
    static func merged(
        from text: String, count: Int, using random: inout TestRandom
    ) -> [[UInt8]] {
        var parts = Array(text.utf8).map { [$0] }
        var words: [[UInt8]] = []
        var seen: Set<[UInt8]> = []
        while words.count < count, parts.count > 1 {
            let place = Int.random(in: 0..<parts.count - 1, using: &random)
            let joined = parts[place] + parts[place + 1]
            guard joined.count <= 24 else {
                if parts.allSatisfy({ $0.count > 12 }) { break }
                parts.remove(at: place)
                continue
            }
            parts[place] = joined
            parts.remove(at: place + 1)
            if seen.insert(joined).inserted { words.append(joined) }
        }
        return words
    }

    /// The token of some bytes, if there is one.
    func token(_ bytes: [UInt8]) -> Int32? { ids[bytes] }

    func text(_ tokens: [Int32]) -> String {
        var stream = TokenText(tokenizer, skippingSpecialTokens: true)
        return tokens.map { stream.text(of: $0) }.joined() + stream.rest()
    }
}

extension TestTokenizer {
    /// All pieces of a text are tokens.
    static func pieces(of text: String, added: [(String, Bool)] = []) throws
        -> TestTokenizer
    {
        let bytes = Array(text.utf8)
        var words: Set<[UInt8]> = []
        for start in bytes.indices {
            for end in bytes.indices where end > start { words.insert(Array(bytes[start...end])) }
        }
        for (text, _) in added { words.remove(Array(text.utf8)) }
        return try TestTokenizer(
            words: words.sorted {
                ($0.count, String(decoding: $0, as: UTF8.self)) < (
                    $1.count, String(decoding: $1, as: UTF8.self)
                )
            },
            added: added.map { (text: $0.0, isSpecial: $0.1) })
    }
}

extension TestTools {
    static func guide(
        _ vocabulary: TestTokenizer, _ format: ToolFormat, _ choice: ToolChoice = .auto,
        parallel: Bool = true, limit: Int = 1000
    ) throws -> ToolGuide {
        try ToolGuide(
            format, tools: try all, choice: choice, parallel: parallel,
            grammars: vocabulary.grammars, tokenizer: vocabulary.tokenizer, limit: limit,
            idSeed: "request")
    }
}

extension ToolFormat {
    /// All formats, with names for messages.
    static let tested: [(name: String, format: ToolFormat)] = [
        ("hermes", .hermes), ("llama", .llama), ("mistral", .mistral), ("granite", .granite),
        ("phi", .phi), ("described", .described),
    ]
}
