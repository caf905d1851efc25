import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinGrammar

/// A client that has gone wants no answer any more, and what was begun for it leaves no trace.
@Suite("Grammars that are not waited for")
struct CancellationTests {
    /// Says yes so many times.
    private final class Patience: Sendable {
        private let left: Mutex<Int>
        private let questions = Mutex(0)

        init(_ count: Int) { left = Mutex(count) }

        var asked: Int { questions.withLock { $0 } }

        func lasts() -> Bool {
            questions.withLock { $0 += 1 }
            return left.withLock { left in
                left -= 1
                return left >= 0
            }
        }
    }

    private static func isCancelled(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return false
        } catch {
            guard case GrammarError.cancelled = error else { throw error }
            return true
        }
    }

    /// Calls `body` with twice the patience each time until it is done.
    ///
    /// - Returns: how often it was cancelled.
    private static func untilDone(
        _ body: (@escaping @Sendable () -> Bool) throws -> Void
    ) throws -> Int {
        for (count, answers) in (0..<30).map({ (1 << $0) - 1 }).enumerated() {
            let patience = Patience(answers)
            guard try isCancelled({ try body(patience.lasts) }) else { return count }
            // The last answer was no, and nothing went on after it.
            #expect(patience.asked == answers + 1)
        }
        return .max
    }

    static let heavy = [
        ##"{"type":"string","pattern":"^(\\w+[.]){3,12}$","maxLength":100}"##,
        ##"{"type":"string","pattern":"^(ab){250}$"}"##,
        ##"{"type":"number","multipleOf":4093}"##,
        ##"{"enum":[\##((0..<2_000).map { #""word \#($0)""# }.joined(separator: ","))]}"##,
    ]

    @Test("a schema is not compiled to the end", arguments: heavy)
    func compiling(_ schema: String) throws {
        let cache = GrammarCache(Vocabularies.bytes, count: 2)
        let count = try Self.untilDone { isWanted in
            _ = try cache.grammar(.schema(Array(schema.utf8)), isWanted: isWanted)
        }
        #expect(count > 2 && count < 30)
        let grammar = try cache.grammar(.schema(Array(schema.utf8)))
        let alone = try CompiledGrammar(schema: Array(schema.utf8), Vocabularies.bytes)
        #expect(try grammar.mask(nil, []).tokens == alone.mask(nil, []).tokens)
    }

    @Test("an expression is not compiled to the end")
    func compilingExpression() throws {
        let cache = GrammarCache(Vocabularies.bytes, count: 2)
        let count = try Self.untilDone { isWanted in
            _ = try cache.grammar(.expression("(a|b|cd){60}e{100}"), isWanted: isWanted)
        }
        #expect(count > 2 && count < 30)
    }

    @Test("what a mask needs is not made to the end, and what was made of it misleads no other")
    func masks() throws {
        let schema = Array(RandomWritingTests.schemas[2].utf8)
        for vocabulary in [Vocabularies.bytes, Vocabularies.withoutPunctuation] {
            let grammar = try CompiledGrammar(schema: schema, vocabulary)
            let expected = try CompiledGrammar(schema: schema, vocabulary)
            for limit in [12, 40] {
                let count = try Self.untilDone { isWanted in
                    var matcher = try GrammarMatcher(grammar, limit: limit, isWanted: isWanted)
                    var other = try GrammarMatcher(expected, limit: limit)
                    for _ in 0..<6 {
                        guard case .choice(_, let mask) = try matcher.next(asksAlways: true),
                            case .choice(_, let same) = try other.next(asksAlways: true)
                        else { break }
                        #expect(mask.tokens == same.tokens)
                        guard let token = mask.tokens.tokens.last else { break }
                        try matcher.accept(token)
                        try other.accept(token)
                    }
                }
                #expect(count > 2 && count < 30)
            }
        }
    }

    @Test("the numbers of tokens are not found to the end, and not taken for too many then")
    func distances() throws {
        let schema = Array(#"{"type":"array","items":{"type":"string","maxLength":3000}}"#.utf8)
        let network = try SchemaCompiler.network(of: schema, unrolled: .max)
        let vocabulary = Vocabularies.withoutPunctuation
        let grammar = CompiledGrammar(network, vocabulary)
        let count = try Self.untilDone { isWanted in
            try grammar.check(limit: 100, isWanted: isWanted)
        }
        #expect(count > 2 && count < 30)
        #expect(throws: GrammarError.doesNotFit(needed: 1, limit: 0)) {
            try grammar.check(limit: 0)
        }
    }

    @Test("states that are forgotten for a caller that goes begin anew for those that stay")
    func forgotten() throws {
        let numbers = (0..<400).map { #"{"type":"integer","minimum":\#($0)}"# }
        let schema = #"{"anyOf":[\#(numbers.joined(separator: ","))]}"#
        let network = try SchemaCompiler.network(of: Array(schema.utf8))
        let automaton = GrammarAutomaton(network)
        let expected = automaton.bytes(after: automaton.state(after: Array("39".utf8)))
        #expect(automaton.configurations(of: automaton.root).count > 256)
        let demand = Demand { false }
        #expect(!demand.asks())
        automaton.demand = demand
        automaton.reset()
        automaton.demand = Demand()
        let state = automaton.state(after: Array("39".utf8))
        #expect(automaton.root >= 0 && state >= 0)
        #expect(automaton.bytes(after: state) == expected)
    }

    @Test("a caller that goes does not take the room of those that stay")
    func others() throws {
        let grammar = try CompiledGrammar(
            schema: Array(RandomWritingTests.schemas[1].utf8), Vocabularies.bytes)
        var stays = try GrammarMatcher(grammar, limit: 40)
        let goes = Patience(3)
        var gone = try GrammarMatcher(grammar, limit: 40, isWanted: goes.lasts)
        var random = TestRandom(state: 3)
        var cancelled = 0
        for _ in 0..<10 {
            guard case .choice(_, let mask) = try stays.next(asksAlways: true),
                let token = mask.tokens.tokens.randomElement(using: &random)
            else { break }
            let made = grammar.stateCount
            cancelled +=
                try Self.isCancelled {
                    _ = try gone.next(asksAlways: true)
                    try gone.accept(token)
                } ? 1 : 0
            #expect(grammar.stateCount >= made)
            try stays.accept(token)
        }
        #expect(cancelled > 3)
    }
}
