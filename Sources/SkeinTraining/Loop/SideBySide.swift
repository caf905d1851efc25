import Foundation
import SkeinBasics
import Synchronization

/// Work on several cores between two steps, while no micro-batch is computed.
///
/// The calling thread does one part and brief threads do the others. Their time is counted here,
/// since a caller that counts its own threads does not see them.
package enum SideBySide {
    /// With fewer numbers a second thread is not worth waking.
    private static let least = 1 << 17
    private static let lentNanoseconds = Atomic<UInt64>(0)

    /// Processor seconds that lent threads have used since the process began.
    package static var lentSeconds: Double {
        Double(lentNanoseconds.load(ordering: .relaxed)) * 1e-9
    }

    /// Calls `body` with ranges that make up 0 ..< `count`, at most one for each core. Only for
    /// work on single numbers of a vector, which does not depend on where the vector is cut.
    package static func forEach(_ count: Int, _ body: (Range<Int>) -> Void) {
        let pieces = min(max(1, count / least), SystemProcessors.usable)
        perform(pieces) { body(count * $0 / pieces..<count * ($0 + 1) / pieces) }
    }

    /// Does both, in any order; on two cores if `count` numbers are worth it.
    package static func both(of count: Int, _ first: () -> Void, _ second: () -> Void) {
        guard count >= least else {
            first()
            return second()
        }
        perform(2) { $0 == 0 ? first() : second() }
    }

    private static func perform(_ pieces: Int, _ body: (Int) -> Void) {
        guard pieces > 1 else { return body(0) }
        let caller = pthread_self()
        BriefThreads.perform(pieces) { piece in
            guard pthread_equal(pthread_self(), caller) == 0 else { return body(piece) }
            let before = threadNanoseconds
            body(piece)
            lentNanoseconds.add(threadNanoseconds &- before, ordering: .relaxed)
        }
    }

    private static var threadNanoseconds: UInt64 {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
