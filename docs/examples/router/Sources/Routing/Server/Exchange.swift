import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request's answer, passed on as it comes.
final class Exchange: Sendable {
    /// Bytes of a server's words about an error.
    private static let errorLimit = 64 << 10

    private struct State {
        var reader: CompletionReader
        /// nil: nothing has come.
        var status: Int?
        var error = Data()
    }

    private let continuation: AsyncThrowingStream<String, any Error>.Continuation
    private let state: Mutex<State>

    init(_ continuation: AsyncThrowingStream<String, any Error>.Continuation, limit: Int) {
        self.continuation = continuation
        state = Mutex(State(reader: CompletionReader(limit: limit)))
    }

    func begin(_ response: URLResponse?) {
        state.withLock { $0.status = (response as? HTTPURLResponse)?.statusCode ?? 0 }
    }

    /// Ends the answer, and by that the request, if what comes is none.
    func take(_ data: Data) {
        do throws(ProviderFailure) {
            let (pieces, isOver) = try state.withLock {
                state throws(ProviderFailure) -> ([String], Bool) in
                guard state.status == 200 else {
                    state.error += data.prefix(Self.errorLimit - state.error.count)
                    guard state.error.count < Self.errorLimit else { throw Self.refusal(state) }
                    return ([], false)
                }
                return (try state.reader.read(data), state.reader.hasEnded)
            }
            for piece in pieces { continuation.yield(piece) }
            // The connection may stay open.
            if isOver { continuation.finish() }
        } catch {
            continuation.finish(throwing: error)
        }
    }

    func end(_ error: (any Error)?) {
        do throws(ProviderFailure) {
            try state.withLock { state throws(ProviderFailure) in
                switch state.status {
                case nil:
                    // What the system says before there is any answer.
                    throw .unavailable(
                        "no answer: \((error?.localizedDescription ?? "").clipped)")
                case 200: try state.reader.end()
                default: throw Self.refusal(state)
                }
            }
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
    }

    private static func refusal(_ state: State) -> ProviderFailure {
        .rejected(status: state.status ?? 0, CompletionReader.words(of: state.error))
    }
}
