import Foundation
import SkeinCoordination
import SkeinModels
import SkeinTensors
import SkeinTraining
import Synchronization

/// A worker's dedicated threads. Each computes one lease at a time, on a workspace of its own; those
/// without a lease help the others with their products.
final class ComputeThreads: Sendable {
    /// A lease on its way to a thread.
    struct Job: Sendable {
        let lease: LeaseGrant
        let term: UInt32
        let progress = PassProgress()
    }

    private struct Slot: Sendable {
        var job: Job?
        var isClosed = false
    }

    /// What a thread does next.
    private enum Turn {
        case compute(Job)
        case help
        case end
    }

    /// One thread's letter box.
    private final class Box: Sendable {
        // The condition guards the slot; both live exactly as long as each other.
        let slot = Condition(Slot())
        /// Whether something is in it: looked at without the lock, while the thread helps.
        let isCalling = Atomic<Bool>(false)

        func put(_ change: (inout Slot) -> Void) {
            slot.change {
                change(&$0)
                isCalling.store(true, ordering: .relaxed)
            }
        }
    }

    private let boxes: [Box]
    private let sharing: WorkSharing
    /// Threads that have not ended, and what to call when the last one has.
    private let living: Mutex<(count: Int, whenEnded: (@Sendable () -> Void)?)>

    /// - Parameters:
    ///   - count: threads.
    ///   - perform: computes a job; called on the thread.
    init(
        count: Int, perform: @escaping @Sendable (Int, Job, DecoderWorkspace) -> Void
    ) {
        boxes = (0..<count).map { _ in Box() }
        sharing = WorkSharing(threadCount: count)
        living = Mutex((count, nil))
        for (number, box) in boxes.enumerated() {
            let sharing = self.sharing
            let thread = Thread { [self] in
                Self.live(as: number, box, sharing, perform)
                ended()
            }
            thread.name = "skein-compute-\(number)"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    private static func live(
        as number: Int, _ box: Box, _ sharing: WorkSharing,
        _ perform: (Int, Job, DecoderWorkspace) -> Void
    ) {
        let workspace = DecoderWorkspace()
        workspace.place = sharing.place(of: number)
        while true {
            switch nextTurn(box, sharing) {
            case .end: return
            case .help: sharing.help(as: number) { box.isCalling.load(ordering: .relaxed) }
            case .compute(let job):
                perform(number, job, workspace)
                sharing.leave()
            }
        }
    }

    private func ended() {
        let whenEnded = living.withLock { living in
            living.count -= 1
            return living.count == 0 ? living.whenEnded : nil
        }
        whenEnded?()
    }

    private static func nextTurn(_ box: Box, _ sharing: WorkSharing) -> Turn {
        box.slot.wait { slot in
            box.isCalling.store(false, ordering: .relaxed)
            // Before the end: whoever handed it over waits to hear what became of it.
            if let job = slot.job {
                slot.job = nil
                return .compute(job)
            }
            if slot.isClosed { return .end }
            return sharing.hasWork ? .help : nil
        }
    }

    /// Gives a job to a thread that has none.
    func start(_ thread: Int, _ job: Job) {
        sharing.enter()
        boxes[thread].put { $0.job = job }
        // Those that wait are to see that there is somebody to help.
        for (number, box) in boxes.enumerated() where number != thread { box.slot.change { _ in } }
    }

    /// Ends the threads once they are done with what they compute; then calls `whenEnded`, on the
    /// last of them.
    func close(whenEnded: (@Sendable () -> Void)? = nil) {
        living.withLock { $0.whenEnded = whenEnded }
        for box in boxes { box.put { $0.isClosed = true } }
    }
}
