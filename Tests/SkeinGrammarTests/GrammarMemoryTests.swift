import Testing

@testable import SkeinGrammar

/// What all grammars of a server take together.
@Suite struct GrammarMemoryTests {
    private static func schema(_ number: Int) -> [UInt8] {
        Array(
            #"{"type":"object","properties":{"p\#(number)":{"type":"string","maxLength":30}},"required":["p\#(number)"]}"#
                .utf8)
    }

    /// Writes a value to its end; the tokens of all masks on the way.
    private static func write(_ grammar: CompiledGrammar) throws -> [TokenSet] {
        var matcher = try GrammarMatcher(grammar, limit: 60)
        var masks: [TokenSet] = []
        while case .choice(_, let mask) = try matcher.next(asksAlways: true) {
            masks.append(mask.tokens)
            guard let token = mask.tokens.tokens.max() else { break }
            try matcher.accept(token)
        }
        return masks
    }

    @Test("states of all grammars stay within the limit, and what is forgotten comes back the same")
    func states() throws {
        let free = GrammarCache(Vocabularies.bytes, count: 8)
        var alone: [[TokenSet]] = []
        var largest = 0
        for number in 0..<6 {
            let before = free.memory.stateBytes
            alone.append(try Self.write(free.grammar(.schema(Self.schema(number)))))
            largest = max(largest, free.memory.stateBytes - before)
        }
        #expect(largest > 0 && free.memory.stateBytes > 3 * largest)
        // Room for three of six.
        let tight = GrammarCache(Vocabularies.bytes, count: 8, byteLimit: 6 * largest)
        // They are held, as by requests that wait.
        let held = try (0..<6).map { try tight.grammar(.schema(Self.schema($0)), makesRoom: false) }
        for number in [0, 1, 2, 3, 4, 5, 5, 0, 3, 1] {
            #expect(try Self.write(held[number]) == alone[number])
            #expect(tight.memory.stateBytes <= 3 * largest)
        }
    }

    @Test("grammars in use count, in the cache or not, until they are released")
    func networks() throws {
        let one = GrammarCache(Vocabularies.bytes, count: 1)
        _ = try one.grammar(.schema(Self.schema(1)))
        let size = one.memory.networkBytes
        #expect(size > 0)
        let cache = GrammarCache(Vocabularies.bytes, count: 1, byteLimit: 5 * size)
        var held: [CompiledGrammar] = []
        while held.count < 2 {
            held.append(try cache.grammar(.schema(Self.schema(1 + held.count))))
            try cache.makeRoom()
        }
        held.append(try cache.grammar(.schema(Self.schema(3))))
        #expect(cache.memory.networkBytes == 3 * size)
        #expect(throws: GrammarError.full) { try cache.makeRoom() }
        held.removeAll()
        try cache.makeRoom()
        #expect(cache.memory.networkBytes == 0 && cache.memory.stateBytes == 0)
    }
    @Test("room is made one grammar at a time, the least recently used one first")
    func oneByOne() throws {
        let sizes = GrammarCache(Vocabularies.bytes, count: 1)
        _ = try sizes.grammar(.schema(Self.schema(1)))
        let size = sizes.memory.networkBytes
        // Full with three.
        let cache = GrammarCache(Vocabularies.bytes, count: 8, byteLimit: 6 * size)
        for number in 1...3 { _ = try cache.grammar(.schema(Self.schema(number))) }
        #expect(cache.known(.schema(Self.schema(1))) != nil)
        #expect(cache.memory.networkBytes == 3 * size)
        try cache.makeRoom()
        #expect(cache.memory.networkBytes == 2 * size)
        #expect(cache.known(.schema(Self.schema(2))) == nil)
        #expect(cache.known(.schema(Self.schema(3))) != nil)
        #expect(cache.known(.schema(Self.schema(1))) != nil)
    }

    @Test("of two reports that come in the wrong order, the newer one counts")
    func reports() throws {
        let cache = GrammarCache(Vocabularies.bytes, count: 2)
        let grammar = try cache.grammar(.schema(Self.schema(1)))
        let other = try cache.grammar(.schema(Self.schema(2)))
        func report(_ grammar: CompiledGrammar, _ number: Int, _ bytes: Int) {
            cache.memory.note(
                grammar, GrammarMemory.Report(number: number, stateBytes: bytes))
        }
        report(grammar, 2, 1_000)
        #expect(cache.memory.stateBytes == 1_000)
        report(grammar, 1, 5_000)
        #expect(cache.memory.stateBytes == 1_000)
        report(other, 1, 30)
        #expect(cache.memory.stateBytes == 1_030)
        report(grammar, 3, 10)
        #expect(cache.memory.stateBytes == 40)
    }

    @Test("each report of a grammar is newer than the last")
    func reportNumbers() throws {
        let grammar = try CompiledGrammar(schema: Self.schema(1), Vocabularies.bytes)
        let first = try #require(grammar.forgetIfIdle())
        _ = try Self.write(grammar)
        let second = try #require(grammar.forgetIfIdle())
        // One for each question, and one for what was forgotten.
        #expect(second.number > first.number + 1)
    }

    @Test("what is known of a network stays if it is small, and is forgotten if it is large")
    func distances() throws {
        for (length, stays) in [(5, true), (3_000, false)] {
            let schema = #"{"type":"array","items":{"type":"string","maxLength":\#(length)}}"#
            let network = try SchemaCompiler.network(of: Array(schema.utf8), unrolled: .max)
            let automaton = GrammarAutomaton(network)
            let completion = ShortestCompletion(Vocabularies.withoutPunctuation, network)
            let tokens = try #require(completion.tokens(from: automaton.root, automaton))
            #expect(completion.byteCount > 0)
            automaton.reset()
            completion.reset(keepsRoom: true)
            #expect(completion.byteCount > 0)
            completion.reset(keepsRoom: false)
            #expect((completion.byteCount > 0) == stays)
            #expect(completion.byteCount <= GrammarLimits.keptDistanceBytes)
            #expect(completion.tokens(from: automaton.root, automaton) == tokens)
        }
    }

    @Test("a grammar that is not kept any longer is found as long as it is in use")
    func inUse() throws {
        let cache = GrammarCache(Vocabularies.bytes, count: 1, byteLimit: 2)
        var held: CompiledGrammar? = try cache.grammar(.schema(Self.schema(1)))
        #expect(throws: GrammarError.full) { try cache.makeRoom() }
        #expect(cache.known(.schema(Self.schema(1))) === held)
        // It is kept again.
        #expect(try cache.grammar(.schema(Self.schema(1))) === held)
        #expect(cache.known(.schema(Self.schema(2))) == nil)
        #expect(cache.known(.expression(String(decoding: Self.schema(1), as: UTF8.self))) == nil)
        #expect(throws: GrammarError.full) { try cache.makeRoom() }
        #expect(throws: GrammarError.full) { try cache.grammar(.schema(Self.schema(2))) }
        // It is not compiled again.
        let bytes = cache.memory.networkBytes
        #expect(try cache.grammar(.schema(Self.schema(1))) === held)
        #expect(cache.memory.networkBytes == bytes)
        held = nil
        try cache.makeRoom()
        #expect(cache.known(.schema(Self.schema(1))) == nil)
        #expect(cache.memory.networkBytes == 0)
        // That there was no room is not remembered of what was refused for it.
        #expect(throws: Never.self) { try cache.grammar(.schema(Self.schema(2))) }
    }
}
