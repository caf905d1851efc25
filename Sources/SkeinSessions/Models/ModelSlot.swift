import SkeinBasics
import SkeinInference
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
        /// Whether what is being loaded is thrown away: `unload()` was called meanwhile. One thread loads
        /// at a time, so that there are never two copies.
        var isUnwanted = false
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
        if let flaw = resources.flaw { throw ModelFlaw.badResources(flaw) }
        if let loaded = state.withLock({ state -> LoadedModel? in
            if case .loaded(let model) = state.content { return model }
            return nil
        }) {
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
        enum Arrival {
            case known(LoadedModel)
            case first, queued
            case refused(Int)
        }
        let limit = resources.parallelReplies + resources.waitingRequests
        let arrival: Arrival = state.withLock { state in
            if case .loaded(let model) = state.content { return .known(model) }
            guard state.waiters.count < limit else { return .refused(state.waiters.count) }
            state.waiters[number] = continuation
            if case .loading = state.content { return .queued }
            state.content = .loading
            return .first
        }
        switch arrival {
        case .known(let model): continuation.resume(returning: model)
        case .queued: break
        case .refused(let count):
            continuation.resume(throwing: ReplyFailure.rateLimited(waiting: count, limit: limit))
        case .first:
            changed()
            let isStarted = SystemThread.start("skein-load", stackBytes: 8 << 20) { [self] in
                while finish(Result { try LoadedModel(path, resources) }) {}
            }
            if !isStarted { while finish(.failure(ModelFlaw.noThread)) {} }
        }
    }

    /// - Returns: whether the model must be loaded again: it was unloaded meanwhile, and has been
    ///   asked for since.
    private func finish(_ result: Result<LoadedModel, any Error>) -> Bool {
        let (waiters, again): ([UInt64: Waiter], Bool) = state.withLock { state in
            if state.isUnwanted {
                state.isUnwanted = false
                if !state.waiters.isEmpty { return ([:], true) }
                state.content = .empty
                return ([:], false)
            }
            if case .success(let model) = result {
                state.content = .loaded(model)
            } else {
                state.content = .empty
            }
            defer { state.waiters = [:] }
            return (state.waiters, false)
        }
        if again { return true }
        changed()
        for waiter in waiters.values { waiter.resume(with: result) }
        return false
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
        let (model, waiters): (LoadedModel?, [UInt64: Waiter]) = state.withLock { state in
            switch state.content {
            case .empty: return (nil, [:])
            case .loading:
                state.isUnwanted = true
                defer { state.waiters = [:] }
                return (nil, state.waiters)
            case .loaded(let model):
                state.content = .empty
                return (model, [:])
            }
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

    /// The place of the model at a path; the same for all who ask while it is held.
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
