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
        /// Words between two of `words`: they lie in cache lines of their own, also where two lines are
        /// fetched together.
        private static let step = 16
        /// Shares that one thread looks through before it knows that nothing is left, at most.
        private static let mostShares = 16

        /// The shares, each a job's number (32 bits), and the end (16) and the beginning (16) of the
        /// pieces that are not claimed, in one word, so that a claim cannot mix two jobs; then the pieces
        /// that are done; then the number of the job whose shares are open, written after them.
        private let words: UnsafeMutablePointer<Atomic<UInt64>>
        private let shares: Int
        private var doneWord: Int { shares * Self.step }
        private var openedWord: Int { (shares + 1) * Self.step }
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

        /// `threads`: those that have a share, from 17 on together with others; any may help.
        init(threads: Int = 1) {
            shares = min(threads, Self.mostShares)
            let count = (shares + 2) * Self.step
            words = .allocate(capacity: count)
            for i in 0..<count { (words + i).initialize(to: Atomic(0)) }
        }

        deinit {
            words.deinitialize(count: (shares + 2) * Self.step)
            words.deallocate()
        }

        /// Offers a job.
        func open(_ count: Int, _ body: @escaping (Int, Int) -> Void) {
            precondition(count <= Self.mostPieces, "more pieces than a share's word can count")
            self.body = body
            words[doneWord].store(0, ordering: .relaxed)
            pieces.store(count, ordering: .relaxed)
            let job = (words[openedWord].load(ordering: .relaxed) &+ 1) & 0xffff_ffff
            for share in 0..<shares {
                let (first, end) = (share * count / shares, (share + 1) * count / shares)
                words[share * Self.step].store(
                    job << 32 | UInt64(end) << 16 | UInt64(first), ordering: .releasing)
            }
            // In one order with `sleepers`: either a thread sees the job before it sleeps, or it is
            // seen asleep here.
            words[openedWord].store(job, ordering: .sequentiallyConsistent)
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
            for offset in 0..<shares {
                let share = (thread + offset) % shares
                // A job cannot end before they are counted, so that all are of one job.
                var (count, all) = (0, 0)
                while let claim = claim(of: share, fromEnd: offset > 0) {
                    all = pieces.load(ordering: .relaxed)
                    if claim.job != job { (job, work) = (claim.job, body) }
                    work(claim.piece, thread)
                    count += 1
                }
                if count == 0 { continue }
                own += count
                let done = words[doneWord].add(
                    UInt64(count), ordering: .sequentiallyConsistent
                ).newValue
                if done == UInt64(all), callerSleeps.load(ordering: .sequentiallyConsistent) {
                    wakeAll()
                }
            }
            return own
        }

        /// The next piece of a share; nil: none is left.
        private func claim(of share: Int, fromEnd: Bool) -> (piece: Int, job: UInt64)? {
            var word = words[share * Self.step].load(ordering: .acquiring)
            while true {
                let (first, end) = (word & 0xffff, word >> 16 & 0xffff)
                if first >= end { return nil }
                let (claimed, found) = words[share * Self.step].compareExchange(
                    expected: word, desired: fromEnd ? word - 1 << 16 : word + 1,
                    ordering: .acquiringAndReleasing)
                if claimed { return (Int(fromEnd ? end - 1 : first), word >> 32) }
                word = found
            }
        }

        /// Waits some microseconds for the pieces that others have claimed; the first thread calls it.
        func looksDone(_ pieces: Int) -> Bool {
            var part = Ahead.Part(ahead, thread: 0, of: shares)
            for _ in 0..<Self.looks {
                if words[doneWord].load(ordering: .acquiring) == UInt64(pieces) { return true }
                part.fetchOrPause()
            }
            return false
        }

        /// Sleeps until all pieces are done.
        func join(_ pieces: Int) {
            // The thread with the last piece may need this processor.
            lock.lock()
            callerSleeps.store(true, ordering: .sequentiallyConsistent)
            while words[doneWord].load(ordering: .sequentiallyConsistent) != UInt64(pieces) {
                lock.wait()
            }
            callerSleeps.store(false, ordering: .relaxed)
            lock.unlock()
        }

        /// A thread's loop.
        func work(as thread: Int) {
            while !isStopped.load(ordering: .acquiring) {
                let job = words[openedWord].load(ordering: .acquiring)
                help(as: thread)
                waitForJob(after: job, as: thread)
            }
            live.subtract(1, ordering: .acquiringAndReleasing)
        }

        /// Waits for another job than `job`, all of whose pieces are claimed.
        private func waitForJob(after job: UInt64, as thread: Int) {
            var part = Ahead.Part(ahead, thread: thread % shares, of: shares)
            for _ in 0..<Self.looks {
                if words[openedWord].load(ordering: .relaxed) != job { return }
                part.fetchOrPause()
            }
            lock.lock()
            sleepers.add(1, ordering: .sequentiallyConsistent)
            while words[openedWord].load(ordering: .sequentiallyConsistent) == job,
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
