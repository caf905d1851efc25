import Dispatch
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinGrammar

/// Answers that are nested as deep as they are long.
@Suite("Deep nesting")
struct DeepNestingTests {
    /// Lists of lists, and so on.
    private static let plain =
        ##"{"$ref":"#/$defs/n","$defs":{"n":{"type":["array","null"],"items":{"$ref":"#/$defs/n"}}}}"##

    @Test("What is open is not made anew for each byte of a replay")
    func replay() throws {
        let network = try SchemaCompiler.network(of: Array(Self.plain.utf8))
        let automaton = GrammarAutomaton(network)
        let depth = 20_000
        let state = automaton.state(after: [UInt8](repeating: UInt8(ascii: "["), count: depth))
        #expect(automaton.bytes(after: state) == Array("[]n".utf8))
        #expect(automaton.facts[Int(state)].need == Int32(depth))
        #expect(automaton.frames.count > depth)
        #expect(automaton.renumbered < 4 * automaton.frames.count)
    }

    @Test("Nesting takes no stack where items and characters are counted", .ownThreads)
    func stack() throws {
        let schema = ##"""
            {"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"array","maxItems":1000,
            "items":{"$ref":"#/$defs/n"}},{"type":"string","maxLength":1000}]}}}
            """##
        let grammar = try CompiledGrammar(schema: Array(schema.utf8), Vocabularies.bytes)
        let bytes = [UInt8](repeating: UInt8(ascii: "["), count: 20_000)
        let allowed = Mutex<[Bool]>([])
        let done = DispatchSemaphore(value: 0)
        let isStarted = SystemThread.start("skein-nesting", stackBytes: 512 << 10) {
            // All of it is made at once: there is no place that knows a state.
            let mask = try? grammar.mask(nil, bytes)
            allowed.withLock { $0 = "[]\",".utf8.map { mask?.tokens.contains(Int32($0)) ?? false } }
            done.signal()
        }
        try #require(isStarted)
        done.wait()
        #expect(allowed.withLock { $0 } == [true, true, true, false])
    }
}
