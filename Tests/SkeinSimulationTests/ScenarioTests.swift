import Foundation
import Testing

@testable import SkeinSimulation

@Suite("scenarios")
struct ScenarioTests {
    @Test("a seed gives the same run each time, and so do the faults that it suffered, alone")
    func same() throws {
        for seed in 1...40 as ClosedRange<UInt64> {
            for recipe in Scenario.Recipe.allCases {
                let scenario = Scenario.drawn(seed, recipe)
                let one = try Simulation.run(scenario, keepsTrace: true)
                let again = try Simulation.run(scenario, keepsTrace: true)
                #expect(one.trace == again.trace, "\(scenario.command)")
                let exact = try Simulation.run(one.exact)
                #expect(
                    exact.counts == one.counts && exact.seconds == one.seconds,
                    "\(scenario.command)")
            }
        }
    }

    @Test("faults are lines of a file, and the file says all of them")
    func lines() throws {
        for seed in 1...100 as ClosedRange<UInt64> {
            let faults = Scenario.drawn(seed, .gradients).faults
            let text = faults.map { $0.description + "\n" }.joined()
            #expect(try Fault.list(Array(text.utf8), path: "f") == faults)
        }
        #expect(throws: ScenarioError.badFault(path: "f", line: 2)) {
            try Fault.list(
                Array(#"{"at":1,"who":"w1","what":"kill"}"#.utf8) + Array("\n{\"at\":2}".utf8),
                path: "f")
        }
    }

    @Test("a scenario becomes as small as what makes it fail")
    func shrinking() throws {
        var scenario = Scenario.drawn(3, .gradients, workers: 9)
        let needed = [
            Fault(at: 3, who: .worker(2), what: .mute, seconds: 1),
            Fault(at: 9, who: .coordinator, what: .kill, seconds: 1),
        ]
        scenario.faults = (scenario.faults + needed).sorted { $0.at < $1.at }
        var shrinking = Shrinking { candidate in
            candidate.workers >= 3 && (candidate.steps ?? 100) >= 8
                && needed.allSatisfy(candidate.faults.contains)
        }
        let smallest = try shrinking.smallest(of: scenario)
        #expect(smallest.faults == needed)
        #expect(smallest.workers == 3)
        #expect(smallest.steps == 8)
    }
}
