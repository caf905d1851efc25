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

    /// On a thread of its own; on the run's when the system refuses one.
    package static let onThread = BesideRun { work in
        let hasEnded = Condition(false)
        let isStarted = SystemThread.start("skein-checkpoint", stackBytes: 8 << 20) {
            work()
            hasEnded.change { $0 = true }
        }
        guard isStarted else {
            work()
            return {}
        }
        return { hasEnded.wait { $0 ? () : nil } }
    }
}
