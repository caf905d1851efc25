import Testing

@testable import SkeinGrammar

/// On a tiny vocabulary every answer can be listed, and a mask compared with what it must be.
@Suite("Masks beside a list of all answers")
struct EnumerationTests {
    static let words = [
        "[", "]", ",", "1", "0", "[1", "1,", "0]", "1]", "[]", ",0", "-", "\"", "a", "\"a", "a\"",
        "10",
        "true", "t", "rue", " ", ", ",
    ]
    static let vocabulary = TokenVocabulary(tokens: words.map { Array($0.utf8) } + [nil])
    /// Without tokens of one byte for brackets and quotes.
    static let coarse = TokenVocabulary(
        tokens: words.map { ["[", "]", "\"", ","].contains($0) ? nil : Array($0.utf8) })

    static let schemas = [
        #"{"type":"array","items":{"type":"integer","minimum":0,"maximum":11},"maxItems":3}"#,
        #"{"type":"array","items":{"enum":[1,"a",true,"aa"]},"minItems":1}"#,
        #"{"type":"integer","multipleOf":5,"minimum":-11,"maximum":110}"#,
        #"{"type":"string","maxLength":3,"minLength":2}"#,
        #"{"anyOf":[{"type":"array","items":{"type":"array"}},{"type":"boolean"}]}"#,
    ]

    /// All sequences of up to `limit` tokens whose text is a value, as the automaton over bytes has it.
    private static func answers(
        _ automaton: GrammarAutomaton, _ vocabulary: TokenVocabulary, limit: Int
    ) -> Set<[Int32]> {
        var found: Set<[Int32]> = []
        var level: [([Int32], GrammarAutomaton.State)] = [([], automaton.root)]
        for length in 0...limit {
            var next: [([Int32], GrammarAutomaton.State)] = []
            for (tokens, state) in level {
                if automaton.facts[Int(state)].isAccepting { found.insert(tokens) }
                if length == limit { continue }
                for id in 0..<Int32(vocabulary.size) where !vocabulary.bytes[id].isEmpty {
                    let after = automaton.step(state, vocabulary.bytes[id])
                    if after >= 0 { next.append((tokens + [id], after)) }
                }
            }
            level = next
        }
        return found
    }

    @Test(
        "a token is allowed if and only if some answer within the limit goes on with it",
        arguments: schemas)
    func masksAreExact(_ schema: String) throws {
        for vocabulary in [Self.vocabulary, Self.coarse] {
            let network = try SchemaCompiler.network(of: Array(schema.utf8))
            let grammar = CompiledGrammar(network, vocabulary)
            for limit in 1...5 {
                let answers = Self.answers(
                    GrammarAutomaton(network), vocabulary, limit: limit)
                let prefixes = Set(answers.flatMap { a in (0...a.count).map { Array(a[..<$0]) } })
                guard !answers.isEmpty else {
                    #expect(throws: GrammarError.self) { try grammar.check(limit: limit) }
                    continue
                }
                for prefix in prefixes {
                    var matcher = try GrammarMatcher(grammar, limit: limit)
                    for token in prefix { try matcher.accept(token) }
                    var allowed: Set<Int32> = []
                    var mayEnd = false
                    switch try matcher.next() {
                    case .end: mayEnd = true
                    case .only(let token): allowed = [token]
                    case .choice(_, let mask):
                        allowed = Set(mask.tokens.tokens)
                        mayEnd = mask.allowsEnd
                    }
                    let expected = Set(
                        prefixes.filter { $0.count == prefix.count + 1 && $0.starts(with: prefix) }
                            .compactMap(\.last))
                    #expect(
                        allowed == expected, "\(prefix.map { Self.words[Int($0)] }) of \(limit)")
                    #expect(mayEnd == answers.contains(prefix), "\(prefix)")
                }
            }
        }
    }

    @Test("masked sampling has the probabilities of the answers, renormalised step by step")
    func distribution() throws {
        // A model without memory: each token has a weight, the end, too.
        let weights = Self.words.indices.map { Double(1 + $0 % 5) }
        let endWeight = 2.0
        let schema = Self.schemas[1]
        let network = try SchemaCompiler.network(of: Array(schema.utf8))
        let grammar = CompiledGrammar(network, Self.vocabulary)
        let limit = 4
        let answers = Self.answers(GrammarAutomaton(network), Self.vocabulary, limit: limit)
        let prefixes = Set(answers.flatMap { a in (0...a.count).map { Array(a[..<$0]) } })
        // The probability of each answer when every step is renormalised over what can go on.
        var expected: [[Int32]: Double] = [:]
        for answer in answers {
            var probability = 1.0
            for place in 0...answer.count {
                let prefix = Array(answer[..<place])
                var total = answers.contains(prefix) ? endWeight : 0
                for id in Self.words.indices where prefixes.contains(prefix + [Int32(id)]) {
                    total += weights[id]
                }
                probability *=
                    (place == answer.count ? endWeight : weights[Int(answer[place])]) / total
            }
            expected[answer] = probability
        }
        let sum: Double = expected.values.reduce(0, +)
        #expect(abs(sum - 1) < 1e-9)
        // The same from the masks, exactly, without drawing.
        var found: [[Int32]: Double] = [:]
        func visit(_ matcher: GrammarMatcher, _ tokens: [Int32], _ probability: Double) throws {
            var allowed: [Int32] = []
            var mayEnd = false
            switch try matcher.next() {
            case .end: mayEnd = true
            case .only(let token): allowed = [token]
            case .choice(_, let mask):
                allowed = mask.tokens.tokens
                mayEnd = mask.allowsEnd
            }
            let total = allowed.reduce(mayEnd ? endWeight : 0) { $0 + weights[Int($1)] }
            if mayEnd { found[tokens] = probability * endWeight / total }
            for token in allowed {
                var next = matcher
                try next.accept(token)
                try visit(next, tokens + [token], probability * weights[Int(token)] / total)
            }
        }
        try visit(GrammarMatcher(grammar, limit: limit), [], 1)
        #expect(Set(found.keys) == Set(expected.keys))
        for (answer, probability) in expected {
            #expect(abs((found[answer] ?? 0) - probability) < 1e-12)
        }
    }
}
