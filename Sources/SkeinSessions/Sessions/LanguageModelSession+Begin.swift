import Observation
import Synchronization

/// One request of a session, from its asking to its end.
final class SessionRequest: Sendable {
    private let cancelled = Atomic<Bool>(false)

    /// Whether its task was cancelled, or its stream was let go. It may go on for a moment.
    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() { cancelled.store(true, ordering: .releasing) }
}

/// A request that follows a cancelled one, until that has ended.
struct WaitingRequest: Sendable {
    let request: SessionRequest
    /// Nil until its task waits.
    var waiter: CheckedContinuation<Void, any Error>?
    /// Why it waits no longer, if that is known before its task waits.
    var failure: (any Error)?
}

extension LanguageModelSession {
    /// Answers a request once the session is free for it.
    ///
    /// - Parameter ask: what is asked.
    /// - Returns: the reply and what the transcript gained.
    /// - Throws: as `take`, `turnCame` and `turn`.
    nonisolated(nonsending) func answer(_ ask: Ask) async throws -> SessionTurn {
        let request = SessionRequest()
        // From before its beginning on: a caller that cancels the task and asks again meets a cancelled one.
        return try await withTaskCancellationHandler {
            try take(request)
            try await turnCame(for: request)
            return try await turn(ask)
        } onCancel: {
            request.cancel()
        }
    }

    /// Makes a request the running one, or the next one if the running one was cancelled.
    ///
    /// - Throws: `GenerationError.concurrentRequests` if another one is under way that was not
    ///   cancelled, which goes on undisturbed; the session's flaw.
    func take(_ request: SessionRequest) throws {
        if let flaw { throw flaw }
        enum Place {
            case first, refused
            case next(former: WaitingRequest?)
        }
        let place: Place = state.withLock { state in
            guard let running = state.running else {
                state.running = request
                return .first
            }
            guard running.isCancelled, state.next?.request.isCancelled ?? true else {
                return .refused
            }
            defer { state.next = WaitingRequest(request: request) }
            return .next(former: state.next)
        }
        switch place {
        case .first: registrar.withMutation(of: self, keyPath: \.isResponding) {}
        case .next(let former): former?.waiter?.resume(throwing: CancellationError())
        case .refused:
            throw GenerationError.concurrentRequests(
                .init(
                    debugDescription:
                        "this session is answering a request already: wait for it, cancel it, or "
                        + "look at isResponding first", limit: 1, count: 2))
        }
    }

    /// Waits until a request is the running one, `patience` at most.
    ///
    /// - Throws: `CancellationError` to a task that is cancelled; `GenerationError.concurrentRequests`
    ///   when the cancelled request before it does not end. It has no place in the session then.
    nonisolated(nonsending) func turnCame(for request: SessionRequest) async throws {
        let (isRunning, patience) = state.withLock { ($0.running === request, $0.patience) }
        if isRunning { return }
        let timer = Task {
            try await Task.sleep(for: patience)
            leave(request, late(patience))
        }
        defer { timer.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let known: Result<Void, any Error>? = state.withLock { state in
                    if state.running === request { return .success(()) }
                    guard state.next?.request === request else {
                        return .failure(CancellationError())
                    }
                    if let failure = state.next?.failure {
                        state.next = nil
                        return .failure(failure)
                    }
                    state.next?.waiter = continuation
                    return nil
                }
                if let known { return continuation.resume(with: known) }
                // The handler may have run before the continuation was there.
                if Task.isCancelled { leave(request, CancellationError()) }
            }
        } onCancel: {
            leave(request, CancellationError())
        }
    }

    /// A request waits no longer. Nothing happens if it does not wait.
    private func leave(_ request: SessionRequest, _ error: any Error) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard let next = state.next, next.request === request else { return nil }
            if next.waiter == nil { state.next?.failure = error } else { state.next = nil }
            return next.waiter
        }
        waiter?.resume(throwing: error)
    }

    /// Why a request that follows a cancelled one was given up.
    private func late(_ patience: Duration) -> GenerationError {
        var owner = "a tool or a check of the program"
        if case .toolCalls(let calls)? = state.withLock({ $0.transcript.last }) {
            owner = "a tool (\(calls.map(\.toolName).joined(separator: ", ")))"
        }
        return .concurrentRequests(
            .init(
                debugDescription:
                    "the request before this one was cancelled, and \(owner) still goes on after "
                    + "\(patience): let it end when Task.isCancelled is true, or ask again when "
                    + "isResponding is false", limit: 1, count: 2))
    }

    /// Ends the running request; the one that waits is the running one then, unless it was cancelled, too.
    func end() {
        let (next, goesOn) = state.withLock { state in
            let next = state.next
            let goesOn = next.map { !$0.request.isCancelled } ?? false
            state.running = goesOn ? next?.request : nil
            state.next = nil
            return (next, goesOn)
        }
        if goesOn {
            next?.waiter?.resume()
        } else {
            next?.waiter?.resume(throwing: CancellationError())
            registrar.withMutation(of: self, keyPath: \.isResponding) {}
        }
    }
}
