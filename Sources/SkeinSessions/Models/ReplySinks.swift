import SkeinInference
import Synchronization

/// Where the engine's events go: the replies under way, by request.
final class ReplySinks: Sendable {
    /// One reply that is waited for.
    final class Sink: Sendable {
        let id: RequestID
        let continuation: AsyncThrowingStream<ReplyUpdate, any Error>.Continuation
        /// Whether the reply is still iterated; asked by whatever takes long.
        let isWanted = Atomic<Bool>(true)
        /// Tokens that the reply may have.
        let limit = Atomic<Int>(0)

        init(
            _ id: RequestID,
            _ continuation: AsyncThrowingStream<ReplyUpdate, any Error>.Continuation
        ) {
            self.id = id
            self.continuation = continuation
        }
    }

    private struct State {
        var sinks: [RequestID: Sink] = [:]
        var next: UInt64 = 0
        /// Why no more are taken.
        var end: ModelFlaw?
    }

    private let state = Mutex(State())
    /// Requests that may be there at once.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    var count: Int { state.withLock { $0.sinks.count } }

    enum Refusal: Error {
        case full(limit: Int)
        case ended(ModelFlaw)
    }

    /// Begins to wait for a reply.
    func add(
        _ continuation: AsyncThrowingStream<ReplyUpdate, any Error>.Continuation
    ) throws(Refusal) -> Sink {
        try state.withLock { (state) throws(Refusal) in
            if let flaw = state.end { throw .ended(flaw) }
            guard state.sinks.count < limit else { throw .full(limit: limit) }
            let sink = Sink(RequestID(number: state.next), continuation)
            state.next += 1
            state.sinks[sink.id] = sink
            return sink
        }
    }

    /// Forgets a reply.
    ///
    /// - Returns: whether it was under way.
    @discardableResult
    func remove(_ id: RequestID) -> Bool {
        state.withLock { $0.sinks.removeValue(forKey: id) != nil }
    }

    /// Ends one reply with an error.
    func fail(_ id: RequestID, _ error: any Error) {
        let sink = state.withLock { $0.sinks.removeValue(forKey: id) }
        sink?.continuation.finish(throwing: error)
    }

    /// Ends all of them, and takes no more.
    func end(_ flaw: ModelFlaw) {
        let sinks = state.withLock { state in
            state.end = flaw
            defer { state.sinks = [:] }
            return state.sinks
        }
        for sink in sinks.values { sink.continuation.finish(throwing: flaw) }
    }

    /// Tells what the engine made. Called on its thread: must not wait.
    func take(_ events: [AnswerEvent]) {
        for event in events {
            guard let sink = state.withLock({ $0.sinks[event.request] }) else { continue }
            switch event.content {
            case .piece(let piece):
                if !piece.text.isEmpty { sink.continuation.yield(.text(piece.text)) }
                for tool in piece.tools {
                    switch tool {
                    case .text(let text): sink.continuation.yield(.text(text))
                    case .callBegan(_, let id, let name):
                        sink.continuation.yield(.callBegan(id: id, name: name))
                    case .arguments(_, let text): sink.continuation.yield(.arguments(text))
                    }
                }
            case .finished(let end):
                remove(event.request)
                sink.continuation.yield(
                    .finished(
                        ReplyEnd(
                            isCutShort: end.reason == .length, promptTokens: end.promptTokens,
                            cachedTokens: end.cachedTokens, replyTokens: end.answerTokens,
                            tokenLimit: sink.limit.load(ordering: .relaxed))))
                sink.continuation.finish()
            case .cut: break
            case .failed(let error):
                remove(event.request)
                sink.continuation.finish(throwing: error)
            }
        }
    }
}
