import SkeinTestSupport
import Testing

@testable import SkeinGrammar

@Suite("Grammars that are shared")
struct SharedGrammarTests {
    private static let schema = Array(RandomWritingTests.schemas[1].utf8)

    /// All masks on the way of a value.
    private static func masks(
        _ grammar: CompiledGrammar, seed: UInt64, limit: Int, forgets: Bool = false
    ) throws -> [TokenSet] {
        var random = TestRandom(state: seed)
        var matcher = try GrammarMatcher(grammar, limit: limit)
        var masks: [TokenSet] = []
        while case .choice(_, let mask) = try matcher.next(asksAlways: true) {
            masks.append(mask.tokens)
            let tokens = mask.tokens.tokens
            guard let token = tokens.randomElement(using: &random) else { break }
            try matcher.accept(token)
            if forgets, masks.count.isMultiple(of: 3) { grammar.forget() }
        }
        return masks
    }

    @Test("what is allowed does not depend on what was asked before, nor on what was forgotten")
    func purity() throws {
        for vocabulary in [Vocabularies.bytes, Vocabularies.withoutPunctuation] {
            let warm = try CompiledGrammar(schema: Self.schema, vocabulary)
            for seed in UInt64(0)..<30 {
                let limit = 20 + Int(seed) * 3
                let cold = try CompiledGrammar(schema: Self.schema, vocabulary)
                let expected = try Self.masks(cold, seed: seed, limit: limit)
                #expect(!expected.isEmpty)
                #expect(try Self.masks(warm, seed: seed, limit: limit) == expected)
                #expect(
                    try Self.masks(cold, seed: seed, limit: limit, forgets: true) == expected)
            }
        }
    }

    @Test("threads that share a grammar get what each would get alone")
    func threads() async throws {
        let shared = try CompiledGrammar(schema: Self.schema, Vocabularies.bytes)
        let all = try await withThrowingTaskGroup(of: (UInt64, [TokenSet]).self) { group in
            for seed in UInt64(0)..<16 {
                group.addTask {
                    (seed, try Self.masks(shared, seed: seed, limit: 40, forgets: seed == 3))
                }
            }
            var all: [UInt64: [TokenSet]] = [:]
            for try await (seed, masks) in group { all[seed] = masks }
            return all
        }
        for (seed, masks) in all {
            let alone = try CompiledGrammar(schema: Self.schema, Vocabularies.bytes)
            #expect(try Self.masks(alone, seed: seed, limit: 40) == masks)
        }
    }

    @Test("a cache keeps what was used last, and compiles by content")
    func cache() throws {
        let cache = GrammarCache(Vocabularies.bytes, count: 2)
        let first = try cache.grammar(.schema(Array("true".utf8)))
        #expect(try cache.grammar(.schema(Array("true".utf8))) === first)
        var expression: CompiledGrammar? = try cache.grammar(.expression("true"))
        #expect(try cache.grammar(.expression("true")) === expression)
        #expect(expression !== first)
        #expect(try cache.grammar(.schema(Array("true".utf8))) === first)
        _ = try cache.grammar(.expression("false"))
        // The expression was used least recently of the three.
        #expect(try cache.grammar(.schema(Array("true".utf8))) === first)
        // It is found as long as it is in use, and compiled again when it is not.
        #expect(try cache.grammar(.expression("true")) === expression)
        weak let gone = expression
        _ = try cache.grammar(.expression("false"))
        _ = try cache.grammar(.expression("null"))
        #expect(gone != nil)
        expression = nil
        #expect(gone == nil)
        #expect(cache.known(.expression("true")) == nil)
        #expect(try cache.grammar(.expression("true")) !== cache.grammar(.expression("null")))
    }

    @Test("the least recently used entries leave, and the weight never exceeds the limit")
    func recentlyUsed() {
        var cache = RecentlyUsed<Int, Int>(limit: 10)
        var model: [(key: Int, weight: Int)] = []
        var random = TestRandom(state: 7)
        for _ in 0..<2_000 {
            let key = Int.random(in: 0..<9, using: &random)
            if Bool.random(using: &random) {
                let weight = Int.random(in: 1...12, using: &random)
                cache.insert(key * 100, for: key, weight: weight)
                model.removeAll { $0.key == key }
                if weight <= 10 {
                    while model.reduce(weight, { $0 + $1.weight }) > 10 { model.removeFirst() }
                    model.append((key, weight))
                }
            } else {
                let place = model.firstIndex { $0.key == key }
                #expect(cache.value(for: key) == place.map { _ in key * 100 })
                if let place { model.append(model.remove(at: place)) }
            }
            #expect(cache.weight == model.reduce(0) { $0 + $1.weight } && cache.weight <= 10)
            #expect(cache.count == model.count)
        }
    }
}
