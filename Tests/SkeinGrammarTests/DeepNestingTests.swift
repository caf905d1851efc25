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
}
