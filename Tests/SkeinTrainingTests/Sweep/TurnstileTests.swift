import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinTraining

@Suite struct TurnstileTests {
    private struct Refusal: Error {}

    @Test("one at a time, in the order in which they came")
    func order() throws {
        let turns = Turnstile()
        let seen = Mutex<[Int]>([])
        let isOpen = Condition(false)
        let done = Condition(0)
        // The first one computes until all others wait, one after the other.
        #expect(
            SystemThread.start("first") {
                turns.pass { isOpen.wait { $0 ? () : nil } }
                done.change { $0 += 1 }
            })
        try Deadline.wait(seconds: 300) { turns.count == 1 }
        for number in 0..<5 {
            #expect(
                SystemThread.start("turn-\(number)") {
                    turns.pass { seen.withLock { $0.append(number) } }
                    done.change { $0 += 1 }
                })
            try Deadline.wait(seconds: 300) { turns.count == number + 2 }
        }
        #expect(seen.withLock { $0 } == [])
        isOpen.change { $0 = true }
        done.wait { $0 == 6 ? () : nil }
        #expect(seen.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    @Test("an error does not keep others out")
    func errors() throws {
        let turns = Turnstile()
        #expect(throws: Refusal.self) { try turns.pass { throw Refusal() } }
        #expect(turns.pass { 7 } == 7)
        #expect(turns.count == 0)
    }
}
