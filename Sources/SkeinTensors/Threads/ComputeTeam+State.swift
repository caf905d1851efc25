import CSkeinKernels
import Foundation
import Synchronization

extension ComputeTeam {
    /// What the threads share.
    ///
    /// `body` is written only while no piece is open: `open` follows a `join` that has seen all
    /// pieces done. Only a thread that has claimed a piece reads it, and a claim succeeds only
    /// while its job is open; the share's word orders both. Everything else is atomic. Hence
    /// Sendable.
    final class State: @unchecked Sendable {
        static let mostPieces = 0xffff
        /// How often a thread looks before it sleeps: about 100 microseconds.
        private static let looks = 4000
        /// Words between two threads' shares: they lie in cache lines of their own, also where two
        /// lines are fetched together.
        private static let step = 16

        /// A job's number (32 bits), and the end (16) and the beginning (16) of the pieces of a share
        /// that are not claimed, in one word, so that a claim cannot mix two jobs. A share for each
        /// thread.
        private let shares: UnsafeMutablePointer<Atomic<UInt64>>
        private let threads: Int
        /// The number of the job whose shares are open, written after them.
        private let opened = Atomic<UInt64>(0)
        private let done = Atomic<Int>(0)
        /// Pieces of the job.
        private let pieces = Atomic<Int>(0)
        private let sleepers = Atomic<Int>(0)
        private let callerSleeps = Atomic<Bool>(false)
        private let isStopped = Atomic<Bool>(false)
        /// Running threads, without the caller's.
        let live = Atomic<Int>(0)
        let ahead = Ahead()
        private let lock = NSCondition()
        private var body: (Int, Int) -> Void = State.nothing

        /// `threads`: those that have a share; others may help them.
        init(threads: Int = 1) {
            self.threads = threads
            shares = .allocate(capacity: threads * Self.step)
            for i in 0..<threads * Self.step { (shares + i).initialize(to: Atomic(0)) }
        }

        deinit {
            shares.deinitialize(count: threads * Self.step)
            shares.deallocate()
        }

        /// Offers a job.
        func open(_ count: Int, _ body: @escaping (Int, Int) -> Void) {
            precondition(count <= Self.mostPieces, "more pieces than a share's word can count")
            self.body = body
            done.store(0, ordering: .relaxed)
            pieces.store(count, ordering: .relaxed)
            let job = (opened.load(ordering: .relaxed) &+ 1) & 0xffff_ffff
            for thread in 0..<threads {
                let (first, end) = (
                    thread * count / threads, (thread + 1) * count / threads
                )
                shares[thread * Self.step].store(
                    job << 32 | UInt64(end) << 16 | UInt64(first), ordering: .releasing)
            }
            // In one order with `sleepers`: either a thread sees the job before it sleeps, or it is
            // seen asleep here.
            opened.store(job, ordering: .sequentiallyConsistent)
            if sleepers.load(ordering: .sequentiallyConsistent) > 0 { wakeAll() }
        }

        /// Releases a finished job and what it holds.
        func close() { body = Self.nothing }

        private static let nothing: @Sendable (Int, Int) -> Void = { _, _ in }

        /// Does pieces until none is left to claim; returns how many it did.
        @discardableResult
        func help(as thread: Int) -> Int {
            var own = 0
            // Read once for each job: threads would count its references one after the other.
            var (job, work): (UInt64?, (Int, Int) -> Void) = (nil, State.nothing)
            for offset in 0..<threads {
                let share = (thread + offset) % threads
                while let claim = claim(of: share, fromEnd: offset > 0) {
                    let all = pieces.load(ordering: .relaxed)
                    if claim.job != job { (job, work) = (claim.job, body) }
                    work(claim.piece, thread)
                    own += 1
                    let count = done.add(1, ordering: .sequentiallyConsistent).newValue
                    if count == all, callerSleeps.load(ordering: .sequentiallyConsistent) {
                        wakeAll()
                    }
                }
            }
            return own
        }

        /// The next piece of a share; nil: none is left.
        private func claim(of share: Int, fromEnd: Bool) -> (piece: Int, job: UInt64)? {
            var word = shares[share * Self.step].load(ordering: .acquiring)
            while true {
                let (first, end) = (word & 0xffff, word >> 16 & 0xffff)
                if first >= end { return nil }
                let (claimed, found) = shares[share * Self.step].compareExchange(
                    expected: word, desired: fromEnd ? word - 1 << 16 : word + 1,
                    ordering: .acquiringAndReleasing)
                if claimed { return (Int(fromEnd ? end - 1 : first), word >> 32) }
                word = found
            }
        }

        /// Waits some microseconds for the pieces that others have claimed; the first thread calls it.
        func looksDone(_ pieces: Int) -> Bool {
            var part = Ahead.Part(ahead, thread: 0, of: threads)
            for _ in 0..<Self.looks {
                if done.load(ordering: .acquiring) == pieces { return true }
                part.fetchOrPause()
            }
            return false
        }

        /// Sleeps until all pieces are done.
        func join(_ pieces: Int) {
            // The thread with the last piece may need this processor.
            lock.lock()
            callerSleeps.store(true, ordering: .sequentiallyConsistent)
            while done.load(ordering: .sequentiallyConsistent) != pieces { lock.wait() }
            callerSleeps.store(false, ordering: .relaxed)
            lock.unlock()
        }

        /// A thread's loop.
        func work(as thread: Int) {
            while !isStopped.load(ordering: .acquiring) {
                let job = opened.load(ordering: .acquiring)
                help(as: thread)
                waitForJob(after: job, as: thread)
            }
            live.subtract(1, ordering: .acquiringAndReleasing)
        }

        /// Waits for another job than `job`, all of whose pieces are claimed.
        private func waitForJob(after job: UInt64, as thread: Int) {
            var part = Ahead.Part(ahead, thread: thread, of: threads)
            for _ in 0..<Self.looks {
                if opened.load(ordering: .relaxed) != job { return }
                part.fetchOrPause()
            }
            lock.lock()
            sleepers.add(1, ordering: .sequentiallyConsistent)
            while opened.load(ordering: .sequentiallyConsistent) == job,
                !isStopped.load(ordering: .sequentiallyConsistent)
            {
                lock.wait()
            }
            sleepers.subtract(1, ordering: .sequentiallyConsistent)
            lock.unlock()
        }

        func stop() {
            isStopped.store(true, ordering: .sequentiallyConsistent)
            wakeAll()
        }

        private func wakeAll() {
            lock.lock()
            lock.broadcast()
            lock.unlock()
        }
    }
}
