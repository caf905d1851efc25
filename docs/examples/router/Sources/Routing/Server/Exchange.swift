import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request and its answer, passed on as it comes.
///
/// `@unchecked`: Foundation's superclass is not Sendable; what changes is behind a mutex.
final class Exchange: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    /// Bytes of a server's words about an error.
    private static let errorLimit = 64 << 10

    private struct State {
        var reader: CompletionReader
        var status = 200
        var error = Data()
        /// What was wrong with the answer; it is why the task was cancelled, then.
        var failure: ProviderFailure?
    }

    private let continuation: AsyncThrowingStream<String, any Error>.Continuation
    private let state: Mutex<State>

    init(_ continuation: AsyncThrowingStream<String, any Error>.Continuation, limit: Int) {
        self.continuation = continuation
        state = Mutex(State(reader: CompletionReader(limit: limit)))
    }

    func start(_ request: URLRequest) {
        let settings = URLSessionConfiguration.ephemeral
        // Waiting is bounded by `Patience`, for all providers alike.
        settings.timeoutIntervalForRequest = 3600
        let session = URLSession(configuration: settings, delegate: self, delegateQueue: nil)
        let task = session.dataTask(with: request)
        continuation.onTermination = { _ in task.cancel() }
        task.resume()
        // The session keeps its delegate until its last task has ended.
        session.finishTasksAndInvalidate()
    }

    /// Nobody is followed elsewhere: neither the conversation nor a key is meant for another server.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.status = (response as? HTTPURLResponse)?.statusCode ?? 0 }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let (pieces, failed) = state.withLock { state -> ([String], Bool) in
            guard state.failure == nil else { return ([], true) }
            guard state.status == 200 else {
                state.error += data.prefix(Self.errorLimit - state.error.count)
                return ([], state.error.count == Self.errorLimit)
            }
            do throws(ProviderFailure) {
                return (try state.reader.read(data), false)
            } catch {
                state.failure = error
                return ([], true)
            }
        }
        for piece in pieces { continuation.yield(piece) }
        if failed { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let failure = state.withLock { state -> ProviderFailure? in
            if let failure = state.failure { return failure }
            if state.status != 200 {
                return .rejected(status: state.status, CompletionReader.words(of: state.error))
            }
            do throws(ProviderFailure) {
                try state.reader.end()
                return nil
            } catch {
                return error
            }
        }
        guard let failure else { return continuation.finish() }
        // Before any answer the system's words say more than "cut off".
        let isReached = task.response != nil
        if let error, !isReached {
            continuation.finish(
                throwing: ProviderFailure.unavailable(error.localizedDescription.clipped))
        } else {
            continuation.finish(throwing: failure)
        }
    }
}
