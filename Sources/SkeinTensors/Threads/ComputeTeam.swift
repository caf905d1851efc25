import CSkeinKernels
import Foundation
import SkeinBasics
import Synchronization

/// A few threads that share the pieces of one job and meet again: fork and join in a microsecond,
/// many thousand times a second.
///
/// The caller does pieces too, so a team of one has no other thread. Pieces are claimed one by one:
/// a member whose processor is busy elsewhere claims none, and is not waited for. If it loses its
/// processor in the middle of a piece, all others wait; then the caller works alone for a while,
/// because a busy machine would do it again. Who does a piece changes no result. Members look for
/// work for some microseconds and then sleep. Not Swift's shared pool, which must not compute. One
/// thread at a time may call `run`, and not from within a piece.
package final class ComputeTeam {
    package let threadCount: Int
    let state: State
    private let clock = ContinuousClock()
    /// The caller works alone until then; nil: with the others.
    private(set) var aloneUntil: ContinuousClock.Instant?

    /// A join may take this long, and some pieces' time more, before the caller works alone.
    private static let patience = Duration.microseconds(200)
    private static let patientPieces = 3
    /// Time alone for each unit of time waited: at most a ninth of the time is lost.
    private static let aloneFactor = 8

    /// - Parameter threadCount: threads that compute, the caller's included; at least 1.
    package init(threadCount: Int) {
        let count = max(1, threadCount)
        self.threadCount = count
        let state = State()
        self.state = state
        for number in 1..<max(count, 1) {
            state.live.add(1, ordering: .relaxed)
            let isStarted = SystemThread.start("skein-team-\(number)") { state.work(as: number) }
            // The others claim its pieces.
            if !isStarted { state.live.subtract(1, ordering: .relaxed) }
        }
    }

    deinit {
        state.stop()
    }

    /// Calls `body(piece, thread)` once for each piece 0 ..< `pieces` and returns when all are done.
    ///
    /// - Parameters:
    ///   - pieces: Any number; more than 65,535 become several jobs in a row.
    ///   - body: Runs on any of the threads; `thread` in 0 ..< `threadCount` says on which, for
    ///     scratch memory. What is written before `run` is visible to the pieces, and what they
    ///     write is visible afterwards.
    package func run(_ pieces: Int, _ body: @escaping (_ piece: Int, _ thread: Int) -> Void) {
        for first in stride(from: 0, to: pieces, by: State.mostPieces) {
            let count = min(State.mostPieces, pieces - first)
            runJob(count, first == 0 ? body : { body(first + $0, $1) })
        }
    }

    private func runJob(_ pieces: Int, _ body: @escaping (Int, Int) -> Void) {
        if threadCount == 1 || pieces <= 1 || isAlone() {
            for piece in 0..<pieces { body(piece, 0) }
            return
        }
        let began = clock.now
        state.open(pieces, body)
        let own = state.help(as: 0)
        if !state.looksDone(pieces) {
            let helped = clock.now
            state.join(pieces)
            judge(waited: helped.duration(to: clock.now), piece: (helped - began) / max(1, own))
        }
        state.close()
    }

    private func isAlone() -> Bool {
        guard let until = aloneUntil else { return false }
        if clock.now < until { return true }
        aloneUntil = nil
        return false
    }

    /// - Parameters:
    ///   - waited: For pieces of others, after the caller had none left to claim.
    ///   - piece: How long one piece took the caller.
    private func judge(waited: Duration, piece: Duration) {
        if waited > Self.patience + piece * Self.patientPieces {
            aloneUntil = clock.now + waited * Self.aloneFactor
        }
    }
}

extension ComputeTeam {
    /// What the threads share.
    ///
    /// `body` is written only while no piece is open: `open` follows a `join` that has seen all
    /// pieces done. Only a thread that has claimed a piece reads it, and a claim succeeds only
    /// while its job is open; the ticket orders both. Everything else is atomic. Hence Sendable.
    final class State: @unchecked Sendable {
        static let mostPieces = 0xffff
        /// How often a thread looks before it sleeps: about 100 microseconds.
        private static let looks = 4000

        /// The job's number (32 bits), its pieces (16) and the next piece (16) in one word, so that
        /// a claim cannot mix two jobs.
        private let ticket = Atomic<UInt64>(0)
        private let done = Atomic<Int>(0)
        private let sleepers = Atomic<Int>(0)
        private let callerSleeps = Atomic<Bool>(false)
        private let isStopped = Atomic<Bool>(false)
        /// Running threads, without the caller's.
        let live = Atomic<Int>(0)
        private let lock = NSCondition()
        private var body: (Int, Int) -> Void = State.nothing

        /// Offers a job.
        func open(_ pieces: Int, _ body: @escaping (Int, Int) -> Void) {
            precondition(pieces <= Self.mostPieces, "more pieces than a ticket can count")
            self.body = body
            done.store(0, ordering: .relaxed)
            let job = (ticket.load(ordering: .relaxed) >> 32) &+ 1
            let word = job << 32 | UInt64(pieces) << 16
            // In one order with `sleepers`: either a thread sees the job before it sleeps, or it is
            // seen asleep here.
            ticket.store(word, ordering: .sequentiallyConsistent)
            if sleepers.load(ordering: .sequentiallyConsistent) > 0 { wakeAll() }
        }

        /// Releases a finished job and what it holds.
        func close() { body = Self.nothing }

        private static let nothing: @Sendable (Int, Int) -> Void = { _, _ in }

        private static func hasPiece(_ word: UInt64) -> Bool { word & 0xffff < word >> 16 & 0xffff }

        /// Does pieces until none is left to claim; returns how many it did.
        @discardableResult
        func help(as thread: Int) -> Int {
            var own = 0
            var word = ticket.load(ordering: .acquiring)
            while Self.hasPiece(word) {
                let (claimed, found) = ticket.compareExchange(
                    expected: word, desired: word + 1, ordering: .acquiringAndReleasing)
                guard claimed else {
                    word = found
                    continue
                }
                body(Int(word & 0xffff), thread)
                own += 1
                let count = done.add(1, ordering: .sequentiallyConsistent).newValue
                if count == word >> 16 & 0xffff,
                    callerSleeps.load(ordering: .sequentiallyConsistent)
                {
                    wakeAll()
                }
                word = ticket.load(ordering: .acquiring)
            }
            return own
        }

        /// Waits some microseconds for the pieces that others have claimed.
        func looksDone(_ pieces: Int) -> Bool {
            for _ in 0..<Self.looks {
                if done.load(ordering: .acquiring) == pieces { return true }
                skein_pause()
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
                help(as: thread)
                waitForPieces()
            }
            live.subtract(1, ordering: .acquiringAndReleasing)
        }

        private func waitForPieces() {
            for _ in 0..<Self.looks {
                if Self.hasPiece(ticket.load(ordering: .relaxed)) { return }
                skein_pause()
            }
            lock.lock()
            sleepers.add(1, ordering: .sequentiallyConsistent)
            while !Self.hasPiece(ticket.load(ordering: .sequentiallyConsistent)),
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
