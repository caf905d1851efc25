import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinGrammar

/// Schemas and expressions that cannot be compiled, asked for again.
@Suite struct FailedGrammarTests {
    /// Too large a machine, which takes a second to find out.
    private static let hostile = "(a|b)*a(a|b){14}c"
    private static let deep = "((a|b)*a(a|b){13}){9}"

    /// How often it was asked whether the grammar is still wanted, and why there is none.
    private static func asked(
        _ cache: GrammarCache, _ expression: String
    ) -> (count: Int, error: GrammarError?) {
        let count = Atomic(0)
        do throws(GrammarError) {
            _ = try cache.grammar(.expression(expression)) {
                count.add(1, ordering: .relaxed)
                return true
            }
            return (count.load(ordering: .relaxed), nil)
        } catch {
            return (count.load(ordering: .relaxed), error)
        }
    }

    @Test("it is tried once, and its error is said again without another try")
    func once() throws {
        let cache = GrammarCache(Vocabularies.bytes, count: 2)
        let first = Self.asked(cache, Self.deep)
        let error = try #require(first.error)
        #expect(first.count > 0)
        let again = Self.asked(cache, Self.deep)
        #expect(again.count == 0 && again.error == error)
        #expect(cache.known(.expression(Self.deep)) == nil)
        // The same bytes as a schema are something else.
        #expect(throws: GrammarError.self) { try cache.grammar(.schema(Array(Self.deep.utf8))) }
        // One that leaves makes no failure.
        #expect(throws: GrammarError.cancelled) {
            try cache.grammar(.expression(Self.hostile)) { false }
        }
        #expect(Self.asked(cache, Self.hostile).count > 0)
    }

    @Test("one whose place is long is remembered with a part of it")
    func longPlaces() throws {
        let cache = GrammarCache(Vocabularies.bytes, count: 2)
        let name = String(repeating: "n", count: 100_000)
        for keyword in [#""format":"\#(name)""#, ##""$ref":"#/\##(name)""##, #""not":{}"#] {
            let schema = Array(#"{"properties":{"\#(name)":{\#(keyword)}}}"#.utf8)
            let asked = Atomic(0)
            var errors: [GrammarError] = []
            var counts: [Int] = []
            for _ in 0..<2 {
                do throws(GrammarError) {
                    _ = try cache.grammar(.schema(schema)) {
                        asked.add(1, ordering: .relaxed)
                        return true
                    }
                } catch {
                    errors.append(error)
                }
                counts.append(asked.load(ordering: .relaxed))
            }
            try #require(errors.count == 2)
            #expect(counts[0] > 0 && counts[1] == counts[0])
            #expect(errors[0].explanation == errors[1].explanation)
            #expect("\(errors[1])".utf8.count <= GrammarLimits.failureBytes + 100)
        }
    }

    @Test("the latest failures are remembered, and no more")
    func limit() throws {
        let cache = GrammarCache(Vocabularies.bytes, count: 2)
        #expect(Self.asked(cache, Self.deep).error != nil)
        for number in 0..<GrammarLimits.failures - 1 {
            #expect(Self.asked(cache, "(\(number)").error != nil)
        }
        #expect(Self.asked(cache, Self.deep).count == 0)
        #expect(Self.asked(cache, "(last").error != nil)
        #expect(Self.asked(cache, Self.deep).count > 0)
    }
}
