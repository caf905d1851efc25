import SkeinAnswers
import SkeinBasics
import Synchronization

/// The place of one model in memory: empty, being loaded by one thread for all who wait, or loaded.
final class ModelSlot: Sendable {
    private typealias Waiter = CheckedContinuation<LoadedModel, any Error>

    private enum Content {
        case empty
        case loading
        case loaded(LoadedModel)
    }

    private struct State {
        var content = Content.empty
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
        /// Of the load that is under way; `unload()` makes it count for nothing.
        var load: UInt64 = 0
    }

    let path: String
    let resources: SystemLanguageModel.Resources
    private let state = Mutex(State())
    /// Called when the model begins to be loaded, is loaded, or is unloaded.
    private let changed: @Sendable () -> Void

    private init(
        _ path: String, _ resources: SystemLanguageModel.Resources,
        changed: @escaping @Sendable () -> Void
    ) {
        self.path = path
        self.resources = resources
        self.changed = changed
    }

    /// The model, loaded if need be.
    ///
    /// - Throws: `ModelFlaw`; what loading throws; `CancellationError` to a task that is cancelled
    ///   while it waits. The others still get the model.
    func model() async throws -> LoadedModel {
        if let loaded = state.withLock({ state -> LoadedModel? in
            if case .loaded(let model) = state.content { return model }
            return nil
        }) {
            try loaded.checkFiles()
            return loaded
        }
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(number, continuation)
                // The handler may have run before the continuation was there.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func wait(_ number: UInt64, _ continuation: Waiter) {
        let (known, load): (LoadedModel?, UInt64?) = state.withLock { state in
            switch state.content {
            case .loaded(let model): return (model, nil)
            case .loading:
                state.waiters[number] = continuation
                return (nil, nil)
            case .empty:
                state.waiters[number] = continuation
                state.content = .loading
                state.load += 1
                return (nil, state.load)
            }
        }
        if let known { continuation.resume(returning: known) }
        guard let load else { return }
        changed()
        let isStarted = SystemThread.start("skein-load", stackBytes: 8 << 20) { [self] in
            finish(load, Result { try LoadedModel(path, resources) })
        }
        if !isStarted { finish(load, .failure(ModelFlaw.noThread)) }
    }

    private func finish(_ load: UInt64, _ result: Result<LoadedModel, any Error>) {
        let waiters: [UInt64: Waiter]? = state.withLock { state in
            guard state.load == load, case .loading = state.content else { return nil }
            if case .success(let model) = result {
                state.content = .loaded(model)
            } else {
                state.content = .empty
            }
            defer { state.waiters = [:] }
            return state.waiters
        }
        changed()
        for waiter in (waiters ?? [:]).values { waiter.resume(with: result) }
    }

    private func cancel(_ number: UInt64) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
        waiter?.resume(throwing: CancellationError())
    }

    var isLoading: Bool {
        state.withLock { state in
            if case .loading = state.content { true } else { false }
        }
    }

    var loaded: LoadedModel? {
        state.withLock { state in
            if case .loaded(let model) = state.content { model } else { nil }
        }
    }

    /// Gives the model's memory back; replies under way end with an error.
    func unload() {
        let (model, waiters) = state.withLock { state in
            defer {
                state.content = .empty
                state.waiters = [:]
                state.load += 1
            }
            if case .loaded(let model) = state.content {
                return (LoadedModel?.some(model), state.waiters)
            }
            return (nil, state.waiters)
        }
        model?.close()
        for waiter in waiters.values {
            waiter.resume(throwing: ModelFlaw.unloaded(path: path))
        }
        changed()
    }

    // MARK: All places

    private struct Key: Hashable {
        var path: String
        var resources: SystemLanguageModel.Resources
    }

    private struct Known {
        weak var slot: ModelSlot?
    }

    private static let all = Mutex([Key: Known]())

    /// The place of the model at a path; the same for all who ask while somebody holds it.
    static func at(
        _ path: String, _ resources: SystemLanguageModel.Resources
    ) -> ModelSlot {
        let key = Key(path: path, resources: resources)
        return all.withLock { all in
            if let slot = all[key]?.slot { return slot }
            all = all.filter { $0.value.slot != nil }
            let slot = ModelSlot(path, resources) { AvailabilityNews.shared.tell() }
            all[key] = Known(slot: slot)
            return slot
        }
    }
}
