import Foundation
import Testing

@testable import SkeinCluster

/// Long work and slow disks are told from a dead-lock.
@Suite struct StillnessTests {
    @Test("a process moves when its thread comes by, computes, or waits for a disk")
    func moves() {
        var stillness = Stillness(now: .zero)
        func moved(
            passed: Double, ticks: UInt64, disk: Bool = false, at now: Double
        ) -> Duration {
            stillness.note(
                passed: .seconds(passed),
                activity: ThreadActivity(ticks: ticks, waitsForDisk: disk), now: .seconds(now))
            return stillness.moved
        }
        #expect(moved(passed: 4, ticks: 0, at: 5) == .seconds(4))
        #expect(moved(passed: 4, ticks: 9, at: 3600) == .seconds(3600))
        #expect(moved(passed: 4, ticks: 9, at: 7200) == .seconds(3600))
        #expect(moved(passed: 4, ticks: 9, disk: true, at: 9000) == .seconds(9000))
        // The time of a thread that has ended is gone from the sum.
        #expect(moved(passed: 4, ticks: 2, at: 9100) == .seconds(9100))
        #expect(moved(passed: 4, ticks: 2, at: 9200) == .seconds(9100))
        stillness.note(passed: .seconds(4), activity: nil, now: .seconds(9999))
        #expect(stillness.moved == .seconds(9999))
    }

    @Test("threads are read from proc(5), and those that only keep company are left out")
    func stat() {
        func activity(_ lines: String...) -> ThreadActivity {
            lines.reduce(into: ThreadActivity()) { $0.add($1) }
        }
        let rest = "1 1 1 0 -1 4194304 5 0 0 0 30 12 0 0 20 0 4 0 77"
        #expect(activity("7 (skein) S \(rest)") == ThreadActivity(ticks: 42))
        #expect(
            activity("7 (a) D) ( b) S \(rest)", "8 (skein-checkpoi) D \(rest)")
                == ThreadActivity(ticks: 84, waitsForDisk: true))
        #expect(activity("7 (skein-network) D \(rest)") == ThreadActivity())
        #expect(
            activity(
                "", "7", "7 (x", ") (", "7 (x) S", "7 (x) S 1 2", "7 (x) S a b c d e f g h i j k l")
                == ThreadActivity())
    }

    #if os(Linux)
        @Test("this process is seen to compute")
        func here() throws {
            let before = try #require(ThreadActivity.now)
            var sum = 0.0
            // Other tests' threads may be seen, too.
            repeat {
                for number in 1..<100_000 { sum += Double(number).squareRoot() }
            } while try #require(ThreadActivity.now).ticks == before.ticks
            #expect(sum > 0)
        }
    #endif
}
