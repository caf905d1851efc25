import Coordination
import Foundation
import Models
import Training

/// A worker's dedicated threads. Each computes one lease at a time, on a workspace of its own.
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

    private let slots: [Condition<Slot>]

    /// - Parameters:
    ///   - count: threads.
    ///   - perform: computes a job; called on the thread.
    init(
        count: Int, perform: @escaping @Sendable (Int, Job, DecoderWorkspace) -> Void
    ) {
        slots = (0..<count).map { _ in Condition(Slot()) }
        for (number, slot) in slots.enumerated() {
            let thread = Thread {
                let workspace = DecoderWorkspace()
                while let job = Self.nextJob(slot) {
                    perform(number, job, workspace)
                }
            }
            thread.name = "skein-compute-\(number)"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    private static func nextJob(_ slot: Condition<Slot>) -> Job? {
        slot.wait { slot in
            if slot.isClosed { return .some(nil) }
            guard let job = slot.job else { return nil }
            slot.job = nil
            return job
        }
    }

    /// Gives a job to a thread that has none.
    func start(_ thread: Int, _ job: Job) {
        slots[thread].change { $0.job = job }
    }

    /// Ends the threads once they are done with what they compute.
    func close() {
        for slot in slots { slot.change { $0.isClosed = true } }
    }
}
