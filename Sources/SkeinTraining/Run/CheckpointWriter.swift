import Foundation
import SkeinBasics
import SkeinModels

/// Saves checkpoints beside the run, on a thread of its own.
///
/// One checkpoint at a time: the next `save` waits for the one before. So checkpoints appear in
/// order, an older one is removed only after a newer one is whole, and there is at most one copy of
/// parameters and moments. After an error nothing is saved, and every call throws it.
final class CheckpointWriter: Sendable {
    /// A checkpoint that is durable.
    struct Saved: Sendable, Equatable {
        var step: Int
        var path: String
    }

    private struct State: Sendable {
        /// Waits until the current checkpoint is saved; nil: nothing is being saved.
        var wait: (@Sendable () -> Void)?
        /// Not reported yet: at most one, as every `save` reports.
        var saved: [Saved] = []
        var error: (any Error)?
    }

    private let state = Condition(State())
    private let store: CheckpointStore
    private let layout: ParameterLayout
    private let keptCount: Int
    private let beside: BesideRun

    /// - Parameters:
    ///   - store: where the checkpoints go; no other process writes there.
    ///   - layout: of the run.
    ///   - keptCount: how many of the newest stay, besides that of the best step.
    ///   - beside: does the writing while the run continues.
    init(
        store: CheckpointStore, layout: ParameterLayout, keeping keptCount: Int,
        beside: BesideRun = .onThread
    ) {
        self.store = store
        self.layout = layout
        self.keptCount = keptCount
        self.beside = beside
    }

    /// Waits for the checkpoint before it, and starts to save this one.
    ///
    /// - Parameters:
    ///   - checkpoint: what to save.
    ///   - formerStep: a step whose checkpoint stays, besides the newest and the best one.
    /// - Returns: what has become durable since the last call.
    /// - Throws: why an earlier checkpoint could not be saved; this one is not saved, either.
    func save(_ checkpoint: Checkpoint, besides formerStep: Int? = nil) throws -> [Saved] {
        let saved = try finish()
        let wait = beside.begin { [self] in
            let result = Result { try write(checkpoint, besides: formerStep) }
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

    /// What has become durable since the last call; does not wait.
    ///
    /// - Throws: why a checkpoint could not be saved, every time from then on.
    func poll() throws -> [Saved] {
        try state.change(waking: false) { Self.take(&$0) }.get()
    }

    /// Waits until nothing is being saved.
    ///
    /// - Returns: what has become durable since the last call.
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

    private func write(_ checkpoint: Checkpoint, besides formerStep: Int?) throws -> Saved {
        let path = try store.save(checkpoint, layout: layout)
        // Only now that this one is durable: it may be the first that names another best step.
        try store.keepNewest(
            keptCount, besides: checkpoint.state.keptStep, and: formerStep,
            through: checkpoint.state.step)
        return Saved(step: checkpoint.state.step, path: path)
    }
}

/// Begins work beside the run's thread, and returns a function that waits for its end.
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
        let background = Background("skein-checkpoint", stackBytes: 8 << 20, work)
        return { background.wait() }
    }
}
