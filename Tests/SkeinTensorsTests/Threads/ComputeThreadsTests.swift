import Foundation
import SkeinBasics
import Testing

@testable import SkeinTensors

@Suite("the threads that compute")
struct ComputeThreadsTests {
    private final class Workspace {}

    @Test("a job that waits when the threads are closed is done before their end is reported")
    func closedWithWork() {
        let events = Condition<[String]>([])
        let gate = Condition(false)
        let threads = ComputeThreads(threadCount: 1) { Workspace() }
        for number in 0..<2 {
            threads.start { _, _ in
                events.change { $0.append("job \(number)") }
                gate.wait { $0 ? () : nil }
                return { events.change { $0.append("result \(number)") } }
            }
        }
        // The first one runs, the second one waits.
        events.wait { $0.isEmpty ? nil : () }
        threads.close { events.change { $0.append("the end") } }
        gate.change { $0 = true }
        let told = events.wait { $0.last == "the end" ? $0 : nil }
        #expect(told == ["job 0", "result 0", "job 1", "result 1", "the end"])
    }

    @Test("jobs are begun in the order in which they came")
    func order() {
        let begun = Condition<[Int]>([])
        let gate = Condition(false)
        let threads = ComputeThreads(threadCount: 1) { Workspace() }
        for number in 0..<50 {
            threads.start { _, _ in
                // None is begun before all are there.
                gate.wait { $0 ? () : nil }
                begun.change { $0.append(number) }
                return {}
            }
        }
        gate.change { $0 = true }
        #expect(begun.wait { $0.count == 50 ? $0 : nil } == Array(0..<50))
    }
}
