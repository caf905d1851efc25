import SkeinBasics
import Synchronization
import Testing

@testable import SkeinGrammar

/// A caller that waits for a machine is asked as often as the work that is really done asks for,
/// which is what limits it, too.
@Suite("Work for machines over characters")
struct MachineWorkTests {
    /// Answers yes so many times, and counts.
    private final class Client: Sendable {
        private let answers: Int
        private let questions = Mutex(0)

        init(answers: Int = .max) { self.answers = answers }

        var asked: Int { questions.withLock { $0 } }

        func isThere() -> Bool {
            questions.withLock { questions in
                questions += 1
                return questions <= answers
            }
        }
    }

    /// A letter of `ranges` ranges leads to each of `count` states, which all go on alike.
    private static func fan(_ count: Int, ranges: Int) -> ScalarMachine {
        let end = count + 1
        let first = (0..<count).map { state in
            let letters = (0..<ranges).map { UInt32(0x400 + 2 * (state * ranges + $0)) }
            return ScalarMachine.Step(
                set: ScalarSet(letters.map { $0...$0 }), to: state + 1)
        }
        let rest = (0..<count).map { _ in [ScalarMachine.Step(set: ScalarSet(0x61), to: end)] }
        return ScalarMachine(
            states: [first] + rest + [[]], accepting: (0...end).map { $0 == end })
    }

    @Test("steps that become one cost what their ranges cost")
    func ranges() throws {
        let (count, ranges) = (100, 100)
        let few = Client()
        let narrow = Self.fan(count, ranges: 1)
        #expect(narrow.merged(Demand { few.isThere() })?.states.count == 3)
        let many = Client()
        let wide = Self.fan(count, ranges: ranges)
        let merged = try #require(wide.merged(Demand { many.isThere() }))
        #expect(merged.states.count == 3)
        #expect(merged.states[0].map(\.set.ranges.count) == [count * ranges])
        // Each time they are joined, and with few ranges it is too little to ask for.
        #expect(many.asked >= 2 && few.asked == 0)
        for answers in 0..<many.asked {
            let goes = Client(answers: answers)
            #expect(wide.merged(Demand { goes.isThere() }) == nil)
            #expect(goes.asked == answers + 1)
        }
    }

    @Test("steps of many states at once cost what looking at them costs")
    func looks() throws {
        let count = 300
        let machine = try ScalarMachine(
            PatternParser.parse("(?:a?){\(count)}").tree, matchesWhole: true)
        let client = Client()
        let found = try #require(machine.determinised(Demand { client.isThere() }))
        #expect(found.states.count == count + 1)
        // The states after each letter lead to all later ones.
        let looks = count * count * count / 6
        #expect(client.asked * GrammarLimits.unaskedWork >= looks / 4)
    }

    /// Each state's letters have hundreds of ranges; cutting them for each step took ten seconds before
    /// it was refused, and for a longer one gigabytes.
    @Test("equal steps of many states are cut once", arguments: [20, 100, 500])
    func equalSteps(_ count: Int) throws {
        let machine = try ScalarMachine(
            PatternParser.parse(#"(?:\p{L}?){\#(count)}"#).tree, matchesWhole: true)
        let found = machine.determinised()
        #expect((found != nil) == (count == 20))
        if let found {
            let letters = String(repeating: "é", count: count)
            #expect(found.contains(letters) && !found.contains(letters + "é"))
        }
    }
}
