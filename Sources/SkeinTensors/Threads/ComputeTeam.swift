import CSkeinKernels
import Foundation
import SkeinBasics
import Synchronization

/// A few threads that share the pieces of one job and meet again: fork and join in a microsecond,
/// many thousand times a second.
///
/// The caller does pieces too, so a team of one has no other thread. Each member has a share of
/// neighbouring pieces, whose memory it reads in one go, and claims them one by one; then it takes
/// what is left of others' shares, from their ends. A member whose processor is busy elsewhere claims
/// none, and is not waited for. If it loses its processor in the middle of a piece, all others wait;
/// then the caller works alone for a while, because a busy machine would do it again. Who does a
/// piece changes no result. Members look for work for some microseconds and then sleep; while they
/// look, they fetch what the next job reads (`announce`). Not Swift's shared pool, which must not
/// compute. One thread at a time may call `run`, and not from within a piece.
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
        let state = State(threads: count)
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

    /// Says what the job after the next one will read, so that members who wait fetch the beginnings
    /// of their shares.
    ///
    /// - Parameters:
    ///   - first: memory of which each member's share is that of its pieces; nothing is read. nil: no
    ///     memory.
    ///   - second: memory that is read piece by piece beside `first`.
    package func announce(
        _ first: UnsafeRawBufferPointer?, _ second: UnsafeRawBufferPointer? = nil
    ) {
        if threadCount > 1 { state.ahead.set(first, second) }
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
