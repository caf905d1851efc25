import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinGrammar

/// Where no token is a single byte of punctuation, the shortest text in bytes often cannot be written.
@Suite("Shortest ways in tokens, where bytes are no tokens")
struct TokenDistancesTests {
    /// The least number of tokens from a state, found by trying all of them; nil: more than `limit`.
    private static func searched(
        _ start: GrammarAutomaton.State, _ automaton: GrammarAutomaton,
        _ vocabulary: TokenVocabulary, limit: Int
    ) throws -> Int? {
        var seen: Set = [start]
        var level = [start]
        for tokens in 0...limit {
            if level.contains(where: { automaton.facts[Int($0)].isAccepting }) { return tokens }
            var next: [GrammarAutomaton.State] = []
            for state in level {
                let found = try #require(
                    automaton.tokens(
                        after: state, vocabulary, bodyFits: { _ in true }, fits: { _ in true }))
                for token in found.tokens.tokens {
                    let after = automaton.step(state, vocabulary.bytes[token])
                    if seen.insert(after).inserted { next.append(after) }
                }
            }
            level = next
        }
        return nil
    }

    @Test("the number is that of a search over all tokens", arguments: RandomWritingTests.schemas)
    func exact(_ schema: String) throws {
        let vocabulary = Vocabularies.withoutPunctuation
        let network = try SchemaCompiler.network(of: Array(schema.utf8))
        let automaton = GrammarAutomaton(network)
        var completion = ExactCompletion(
            try #require(TokenDistanceSearch.distances(network, vocabulary.shapes)))
        var random = TestRandom(state: 16)
        var state = automaton.root
        for _ in 0..<8 {
            let tokens = Int(completion.tokens(from: state, automaton))
            let limit = 3
            let expected = try Self.searched(state, automaton, vocabulary, limit: limit)
            #expect(expected == (tokens <= limit ? tokens : nil))
            let found = try #require(
                automaton.tokens(
                    after: state, vocabulary, bodyFits: { _ in true }, fits: { _ in true }))
            let next = found.states.sorted().filter {
                completion.tokens(from: $0, automaton) < ByteNetwork.never
            }
            // A state from which there is a way has one after it that is a token nearer.
            if tokens > 0, tokens < Int(ByteNetwork.never) {
                #expect(next.contains { completion.tokens(from: $0, automaton) == tokens - 1 })
            }
            guard let after = next.randomElement(using: &random) else { break }
            state = after
        }
    }

    @Test("equal places inside of tokens are one shape")
    func shapes() {
        let words = ["ab", "ac", "bb", "bc", "b", "cab", "d"]
        let shapes = TokenVocabulary(tokens: words.map { Array($0.utf8) }).shapes
        // Behind "a", "b" and "ca"; behind "c"; and between two tokens.
        #expect(shapes.count == 4)
        let steps = shapes[shapes.root]
        #expect(steps.map(\.byte) == Array("abcd".utf8))
        #expect(steps.map(\.isToken) == [false, true, false, true])
        #expect(steps.map { $0.longer >= 0 } == [true, true, true, false])
    }

    /// Pairs of a mark and a character, some of them missing.
    private static let pairs = vocabulary(words: [])
    /// Besides, words that differ in what follows their first letter.
    private static let words = vocabulary(words: (97...122).map { [$0, 113, $0] })

    private static func vocabulary(words: [[UInt8]]) -> TokenVocabulary {
        let marks = Array("{}[]\":,".utf8)
        let plain = Array(0x21..<0x7F as Range<UInt8>).filter { !marks.contains($0) }
        var tokens =
            plain.map { [$0] } + plain.flatMap { p in marks.flatMap { [[p, $0], [$0, p]] } }
        tokens += marks.flatMap { a in marks.map { [a, $0] } }
        let missing = ["[]", "]]", "\"\"", "}]"].map { Array($0.utf8) }
        return TokenVocabulary(tokens: words + tokens.filter { !missing.contains($0) })
    }

    @Test("what cannot be written at all is refused, though it could go on for ever")
    func impossible() throws {
        let schema = """
            {"type":"array","minItems":1,"maxItems":1,"items":{"type":"array","minItems":1,
            "maxItems":1,"items":{"type":"array"}}}
            """
        let grammar = try CompiledGrammar(schema: Array(schema.utf8), Self.pairs)
        #expect(throws: GrammarError.doesNotFit(needed: nil, limit: 1_000)) {
            try GrammarMatcher(grammar, limit: 1_000)
        }
    }

    /// A search over tokens made 4,096 states for each token that was looked at, here and in seconds
    /// each.
    @Test("few states are made for values whose shortest text in bytes cannot be written")
    func fewStates() throws {
        let schema = """
            {"type":"object","properties":{"a":{"type":"array","items":true,"minItems":2},
            "b":{"anyOf":[{"type":["number","object"]},{"type":"array"}]}},"required":["a","b"]}
            """
        let grammar = try CompiledGrammar(schema: Array(schema.utf8), Self.pairs)
        var written = 0
        for seed in UInt64(0)..<20 {
            var random = TestRandom(state: seed)
            var matcher = try GrammarMatcher(grammar, limit: 40)
            let text = try matcher.write(with: &random)
            #expect(
                (try? JSONReader.read(Array(text.utf8), JSONRules(depth: 128, names: .last))) != nil
            )
            written += matcher.used
        }
        #expect(written > 200)
        #expect(grammar.stateCount < 20_000)
    }

    @Test("a schema with too many places falls back to what is found in less room")
    func tooLarge() throws {
        let schema = Array(#"{"type":"string","minLength":2,"maxLength":120000}"#.utf8)
        let network = try SchemaCompiler.network(of: schema)
        let isExact = TokenDistanceSearch.distances(network, Self.words.shapes) != nil
        #expect(!isExact)
        let grammar = CompiledGrammar(network, Self.words)
        for seed in UInt64(0)..<5 {
            var random = TestRandom(state: seed)
            var matcher = try GrammarMatcher(grammar, limit: 12)
            let text = try matcher.write(with: &random)
            let value = try GrammarJSON.read(Array(text.utf8))
            #expect(value.string.map { $0.count >= 2 } == true)
        }
    }
}
