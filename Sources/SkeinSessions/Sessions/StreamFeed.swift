import Synchronization

/// Between the task that makes a reply and those who look at it: the latest snapshot, and the end.
/// Not a `Feed`: a slow looker skips snapshots, as each has all of the one before.
final class StreamFeed: Sendable {
    private struct State {
        var latest: GeneratedContent?
        var version = 0
        var end: Result<SessionTurn, any Error>?
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter: UInt64 = 0

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let state = Mutex(State())

    /// A newer snapshot takes the place of the last one.
    func put(_ content: GeneratedContent) {
        let waiters = state.withLock { state in
            state.latest = content
            state.version += 1
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    func finish(_ end: Result<SessionTurn, any Error>) {
        let waiters = state.withLock { state in
            if state.end == nil { state.end = end }
            // The last snapshot is the whole reply.
            if case .success(let turn) = end {
                state.latest = turn.content
                state.version += 1
            }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    private enum Look {
        case snapshot(GeneratedContent, Int)
        case ended
        case failed(any Error)
        case nothing
    }

    private func look(after seen: Int) -> Look {
        state.withLock { state in
            if case .failure(let error)? = state.end { return .failed(error) }
            if state.version > seen, let latest = state.latest {
                return .snapshot(latest, state.version)
            }
            return state.end == nil ? .nothing : .ended
        }
    }

    /// The latest snapshot, once there is one newer than that of a version; nil after the last one.
    ///
    /// - Throws: what ended the request; `CancellationError` to a task that is cancelled.
    nonisolated(nonsending)
        func next(after seen: Int) async throws -> (GeneratedContent, Int)?
    {
        while true {
            switch look(after: seen) {
            case .snapshot(let content, let version): return (content, version)
            case .ended: return nil
            case .failed(let error): throw error
            case .nothing: break
            }
            try Task.checkCancellation()
            await wait { $0.version > seen || $0.end != nil }
        }
    }

    /// How the request ended, once it has.
    ///
    /// - Throws: likewise.
    nonisolated(nonsending) func end() async throws -> SessionTurn {
        while true {
            if let end = state.withLock({ $0.end }) { return try end.get() }
            try Task.checkCancellation()
            await wait { $0.end != nil }
        }
    }

    /// Waits until something happens, or the task is cancelled.
    private nonisolated(nonsending)
        func wait(unless isOver: @Sendable (State) -> Bool) async
    {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if isOver(state) { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { return continuation.resume() }
                // The handler may have run before the continuation was there.
                if Task.isCancelled { wake(number) }
            }
        } onCancel: {
            wake(number)
        }
    }

    /// Whether a task waits for what comes next.
    var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

    private func wake(_ number: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
}

/// What streams and iterators hold: when the last of them is gone, the request is cancelled.
final class StreamHandle: Sendable {
    let feed: StreamFeed
    private let task: Task<Void, Never>?
    private let request: SessionRequest

    init(_ feed: StreamFeed, _ task: Task<Void, Never>?, _ request: SessionRequest) {
        self.feed = feed
        self.task = task
        self.request = request
    }

    /// Marks the request first: its task may not have begun, and the next request looks at the mark.
    func cancel() {
        request.cancel()
        task?.cancel()
    }

    deinit { cancel() }
}

/// An iteration; one that ends before the reply does cancels the request.
final class IterationToken: Sendable {
    private let handle: StreamHandle
    private let isFinished = Atomic<Bool>(false)

    init(_ handle: StreamHandle) { self.handle = handle }

    func finish() { isFinished.store(true, ordering: .relaxed) }

    deinit {
        if !isFinished.load(ordering: .relaxed) { handle.cancel() }
    }
}
