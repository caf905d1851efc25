import Foundation
import SkeinBasics

/// Begins work beside the run's thread, and returns a function that waits for its end.
package struct BesideRun: Sendable {
    let begin: @Sendable (_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    package init(
        _ begin:
            @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void
    ) {
        self.begin = begin
    }

    /// On a thread of its own.
    package static let onThread = BesideRun { work in
        let hasEnded = Condition(false)
        let thread = Thread {
            work()
            hasEnded.change { $0 = true }
        }
        thread.name = "skein-checkpoint"
        thread.stackSize = 8 << 20
        thread.start()
        return { hasEnded.wait { $0 ? () : nil } }
    }
}
