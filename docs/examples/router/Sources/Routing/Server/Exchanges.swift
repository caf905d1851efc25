import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The process's HTTP client. It has one session: on Linux each leaves descriptors behind.
///
/// `@unchecked`: Foundation's superclass is not Sendable; `session` is set once, before anybody else has this object.
final class Exchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    static let shared = Exchanges()

    private let running = Mutex<[Int: Exchange]>([:])
    private var session: URLSession?
    /// Cancelling waits for the session's own queue, which no thread of Swift's pool may do.
    private let work = DispatchQueue(label: "router.exchanges")

    override private init() {
        super.init()
        let settings = URLSessionConfiguration.ephemeral
        settings.httpCookieStorage = nil
        settings.urlCache = nil
        settings.urlCredentialStorage = nil
        // How long anything may take is `Patience`'s business, for all providers alike.
        settings.timeoutIntervalForRequest = 86400
        settings.httpMaximumConnectionsPerHost = 64
        session = URLSession(configuration: settings, delegate: self, delegateQueue: nil)
    }

    /// Sends a request and passes its answer on.
    func start(
        _ request: URLRequest, limit: Int,
        _ continuation: AsyncThrowingStream<String, any Error>.Continuation
    ) {
        let started = Mutex<URLSessionTask?>(nil)
        let exchange = Exchange(continuation, limit: limit)
        // Before anybody has the stream, so that its end cannot be missed; `work` keeps the order.
        continuation.onTermination = { [self] _ in
            work.async { [self] in
                guard let task = started.withLock({ $0 }) else { return }
                _ = running.withLock { $0.removeValue(forKey: task.taskIdentifier) }
                task.cancel()
            }
        }
        work.async { [self] in
            guard let task = session?.dataTask(with: request) else { return }
            started.withLock { $0 = task }
            running.withLock { $0[task.taskIdentifier] = exchange }
            task.resume()
        }
    }

    private func exchange(_ task: URLSessionTask) -> Exchange? {
        running.withLock { $0[task.taskIdentifier] }
    }

    /// Nobody is followed elsewhere: neither the conversation nor a key is meant for another server.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// 401 is an answer; the session would wait for a credential that nobody has. Other challenges, such as a
    /// server's certificate, are the system's business.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        let method = challenge.protectionSpace.authenticationMethod
        guard
            [
                NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic,
                NSURLAuthenticationMethodHTTPDigest,
            ].contains(method)
        else { return completionHandler(.performDefaultHandling, nil) }
        exchange(task)?.begin(challenge.failureResponse ?? task.response)
        exchange(task)?.end(nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(dataTask)?.begin(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(dataTask)?.take(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        exchange(task)?.end(error)
    }
}
