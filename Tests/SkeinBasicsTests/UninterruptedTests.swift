import Foundation
import SkeinBasics
import Testing

@Suite("calls that a signal interrupts")
struct UninterruptedTests {
    @Test("only an interrupted call is made again, and its last result counts")
    func again() {
        var results: [CallResult<Int>] = [.failed(EINTR), .failed(EINTR), .done(7), .done(0)]
        guard case .done(7) = uninterrupted({ results.removeFirst() }) else {
            Issue.record("it gave another result")
            return
        }
        #expect(results.count == 1)
        results = [.failed(EINTR), .failed(EIO), .done(0)]
        #expect(uninterrupted { results.removeFirst() }.code == EIO)
        #expect(results.count == 1)
    }

    @Test("what the call throws is thrown")
    func thrown() {
        struct Death: Error {}
        #expect(throws: Death.self) {
            try uninterrupted { () throws -> CallResult<Int> in throw Death() }
        }
    }
}
