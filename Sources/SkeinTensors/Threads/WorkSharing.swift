import CSkeinKernels
import Foundation
import Synchronization

/// Threads that each compute work of their own, and help each other when they have none.
///
/// Two micro-batches never take equally long, and a step may have fewer of them than there are
/// threads. So a thread without work takes parts of the products of those that have some. Who
/// computes a part changes no bits: an element depends only on its row and column.
///
/// A thread is known by its number, 0 ..< `threadCount`. It calls `enter` and `leave` around work
/// of its own, and `help` when it has none. Without helpers, sharing costs a look at one number.
package final class WorkSharing: Sendable {
    package let threadCount: Int
    /// What the thread of the same number offers.
    private let offers: [ComputeTeam.State]
    /// Each thread's scratch for a part of a product, its own or another thread's.
    private let scratch: [FloatBuffer]
    private let working = Atomic<Int>(0)
    private let helpers = Atomic<Int>(0)
    /// Parts that threads have computed for others, for tests.
    let helped = Atomic<Int>(0)

    /// How often a helper looks before it naps: about 50 microseconds.
    private static let looks = 2000
    /// How long it naps: how late it may be for a product of a millisecond.
    private static let nap: UInt32 = 50

    package init(threadCount: Int) {
        self.threadCount = threadCount
        offers = (0..<threadCount).map { _ in ComputeTeam.State() }
        scratch = (0..<threadCount).map { _ in FloatBuffer(count: MatMul.scratchCount) }
    }

    /// The place of one thread.
    package struct Place: Sendable {
        let sharing: WorkSharing
        let number: Int

        /// Whether another thread could help, and the product is long enough: some 100
        /// microseconds.
        ///
        /// `operations`: multiplications and additions in fp32.
        func isWorthSharing(columns: Int, operations: Int) -> Bool {
            hasHelpers && columns > 64 && operations > 10_000_000
        }

        /// Calls `body(part, scratch)` for parts of the columns 0 ..< `columns` of a product, with
        /// the help of idle threads, and returns when all are done.
        ///
        /// Parts start at multiples of 64. `scratch` has `MatMul.scratchCount` floats.
        func run(
            columns: Int,
            _ body: @escaping (_ part: Range<Int>, UnsafeMutablePointer<Float>) -> Void
        ) {
            let width = Self.partWidth(columns: columns)
            let parts = (columns + width - 1) / width
            let offer = sharing.offers[number]
            let scratch = sharing.scratch
            offer.open(parts) { part, thread in
                let first = part * width
                body(first..<min(first + width, columns), scratch[thread].base)
            }
            offer.help(as: number)
            if !offer.looksDone(parts) { offer.join(parts) }
            offer.close()
        }

        /// Columns of a part: a multiple of 64, and no more parts than an offer can count.
        static func partWidth(columns: Int) -> Int {
            let most = ComputeTeam.State.mostPieces
            let least = (columns + most * 64 - 1) / (most * 64) * 64
            return max(columns < 1024 ? 64 : 128, least)
        }

        /// Whether a thread looks for work.
        package var hasHelpers: Bool { sharing.helpers.load(ordering: .relaxed) > 0 }
    }

    package func place(of thread: Int) -> Place { Place(sharing: self, number: thread) }

    /// A thread begins work of its own.
    package func enter() { working.add(1, ordering: .acquiringAndReleasing) }

    /// A thread has ended work of its own.
    package func leave() { working.subtract(1, ordering: .acquiringAndReleasing) }

    /// Whether any thread has work of its own.
    package var hasWork: Bool { working.load(ordering: .acquiring) > 0 }

    /// Helps until `isOver`, or until no thread has work any more.
    ///
    /// - Parameters:
    ///   - thread: the calling thread's number.
    ///   - isOver: asked between parts of products, at least every 100 microseconds.
    package func help(as thread: Int, until isOver: () -> Bool) {
        helpers.add(1, ordering: .relaxed)
        defer { helpers.subtract(1, ordering: .relaxed) }
        var looks = 0
        while hasWork, !isOver() {
            var done = 0
            // The next thread's offer first, so that helpers spread.
            for step in 1..<max(threadCount, 1) {
                done += offers[(thread + step) % threadCount].help(as: thread)
            }
            if done > 0 {
                helped.add(done, ordering: .relaxed)
                looks = 0
            } else if looks < Self.looks {
                looks += 1
                skein_pause()
            } else {
                looks = 0
                usleep(Self.nap)
            }
        }
    }
}
