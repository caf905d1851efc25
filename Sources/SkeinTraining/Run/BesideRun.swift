import Foundation
import SkeinBasics

/// Begins work that goes on beside the run's thread; what that returns waits for the work's end.
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
