import CSkeinKernels
import Synchronization

extension ComputeTeam {
    /// The memory that the job after the open one reads, for threads that have nothing to do.
    ///
    /// Only addresses are kept, and fetching one never fails, so that a thread which sees the parts
    /// of two announcements fetches what does not help, and that is all.
    struct Ahead: ~Copyable {
        /// Bytes of each of the two parts that a waiting thread fetches at most: what it can fetch in
        /// the few microseconds between two jobs.
        static let most = 32 << 10
        private static let line = 64

        private let base = Atomic<UInt>(0)
        private let count = Atomic<Int>(0)
        private let secondBase = Atomic<UInt>(0)
        private let secondCount = Atomic<Int>(0)

        func set(_ first: UnsafeRawBufferPointer?, _ second: UnsafeRawBufferPointer?) {
            base.store(UInt(bitPattern: first?.baseAddress), ordering: .relaxed)
            count.store(first?.count ?? 0, ordering: .relaxed)
            secondBase.store(UInt(bitPattern: second?.baseAddress), ordering: .relaxed)
            secondCount.store(second?.count ?? 0, ordering: .relaxed)
        }

        /// What one thread of a team still has to fetch.
        struct Part {
            private var lines: (Range<UInt>, Range<UInt>)

            init(_ ahead: borrowing Ahead, thread: Int, of threads: Int) {
                func share(_ base: UInt, _ count: Int) -> Range<UInt> {
                    let first = count / threads * thread
                    let length = min(count / threads, Ahead.most)
                    let start = base &+ UInt(bitPattern: first)
                    return start..<max(start, start &+ UInt(bitPattern: length))
                }
                lines = (
                    share(
                        ahead.base.load(ordering: .relaxed), ahead.count.load(ordering: .relaxed)),
                    share(
                        ahead.secondBase.load(ordering: .relaxed),
                        ahead.secondCount.load(ordering: .relaxed))
                )
            }

            /// Fetches a few lines into the second-level cache, or only waits for an instant.
            mutating func fetchOrPause() {
                if lines.0.isEmpty { lines = (lines.1, lines.0) }
                guard !lines.0.isEmpty else { return skein_pause() }
                let start = lines.0.lowerBound
                for offset in stride(from: 0, to: UInt(4 * Ahead.line), by: Ahead.line) {
                    skein_fetch(start &+ offset)
                }
                let end = lines.0.upperBound
                lines.0 = start + min(UInt(4 * Ahead.line), end - start)..<end
            }
        }
    }
}
