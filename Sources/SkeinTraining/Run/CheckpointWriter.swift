import Foundation
import SkeinBasics
import SkeinModels

/// Saves checkpoints beside the run, on a thread of its own, one after the other.
///
/// One checkpoint at a time: the next `save` waits for the one before, so checkpoints appear in
/// their order, an older one is removed only after a newer one is whole, and no more than one copy of
/// parameters and moments is held. An error stays until somebody asks, and nothing is saved after it.
final class CheckpointWriter: Sendable {
    /// A checkpoint that is durable.
    struct Saved: Sendable, Equatable {
        var step: Int
        var path: String
    }

    private struct State: Sendable {
        /// Waits for the end of what is being saved; nil: nothing is.
        var wait: (@Sendable () -> Void)?
        /// Not asked for yet: one at most, as every `save` asks.
        var saved: [Saved] = []
        var error: (any Error)?
    }

    private let state = Condition(State())
    private let store: CheckpointStore
    private let layout: ParameterLayout
    private let keptCount: Int
    private let beside: BesideRun

    /// - Parameters:
    ///   - store: where the checkpoints go; nobody else writes there.
    ///   - layout: of the run.
    ///   - keptCount: how many of them stay, besides that of the best step.
    ///   - beside: does what is to be done while the run goes on.
    init(
        store: CheckpointStore, layout: ParameterLayout, keeping keptCount: Int,
        beside: BesideRun = .onThread
    ) {
        self.store = store
        self.layout = layout
        self.keptCount = keptCount
        self.beside = beside
    }

    /// Waits for the checkpoint before, and starts to save this one.
    ///
    /// - Returns: what became durable since it was asked last.
    /// - Throws: why a checkpoint before could not be saved; this one then is not, either.
    func save(_ checkpoint: Checkpoint) throws -> [Saved] {
        let saved = try finish()
        let wait = beside.begin { [self] in
            let result = Result { try write(checkpoint) }
            state.change { state in
                switch result {
                case .success(let saved): state.saved.append(saved)
                case .failure(let error): state.error = error
                }
            }
        }
        state.change(waking: false) { $0.wait = wait }
        return saved
    }

    /// What became durable since it was asked last; waits for nothing.
    ///
    /// - Throws: why a checkpoint could not be saved, every time from then on.
    func poll() throws -> [Saved] {
        try state.change(waking: false) { Self.take(&$0) }.get()
    }

    /// Waits until nothing is being saved.
    ///
    /// - Returns: what became durable since it was asked last.
    /// - Throws: why a checkpoint could not be saved, every time from then on.
    func finish() throws -> [Saved] {
        let wait = state.change(waking: false) { state in
            defer { state.wait = nil }
            return state.wait
        }
        wait?()
        return try poll()
    }

    private static func take(_ state: inout State) -> Result<[Saved], any Error> {
        defer { state.saved = [] }
        return state.error.map { .failure($0) } ?? .success(state.saved)
    }

    private func write(_ checkpoint: Checkpoint) throws -> Saved {
        let path = try store.save(checkpoint, layout: layout)
        // Only now that this one is durable: it may be the one that names another step as the best.
        try store.keepNewest(
            keptCount, besides: checkpoint.state.keptStep, through: checkpoint.state.step)
        return Saved(step: checkpoint.state.step, path: path)
    }
}

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
