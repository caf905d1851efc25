import Foundation
import FoundationNetworking
import SkeinHub

/// What one exchange may cost.
struct HTTPLimits: Sendable {
    /// Bytes of a body; the exchange ends when more arrive.
    var bytes: Int
    /// An exchange without a byte for this long has failed.
    var idle: Duration
    /// The whole exchange.
    var total: Duration
}

/// A header and, unless it was handed on, a body.
struct HTTPAnswer {
    var response: HTTPURLResponse
    var body: Data

    var status: Int { response.statusCode }

    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
}

/// An exchange that did not end.
enum HTTPFailure: Error {
    /// The connection failed or was silent; the text has no URL.
    case network(String)
    /// More bytes than allowed, or than were announced.
    case tooLong
    /// What the receiver of the body threw.
    case storage(HubError)
}

/// One request, without redirects. The caller waits on its own thread; bytes arrive on another.
final class HTTPExchange: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // `lock` guards every variable; `body` is only called by the session's queue, one at a time.
    private let lock = NSLock()
    private let ended = DispatchSemaphore(value: 0)
    private let limits: HTTPLimits
    private let receive: ((HTTPURLResponse, Data) throws(HubError) -> Void)?
    private var response: HTTPURLResponse?
    private var body = Data()
    private var received = 0
    private var failure: HTTPFailure?
    private var last = ContinuousClock.now

    private init(
        _ limits: HTTPLimits, _ receive: ((HTTPURLResponse, Data) throws(HubError) -> Void)?
    ) {
        self.limits = limits
        self.receive = receive
    }

    /// Sends a request and waits for its end.
    ///
    /// - Parameters:
    ///   - request: With all headers.
    ///   - limits: What it may cost.
    ///   - beat: Called several times a second while waiting.
    ///   - receive: Gets the pieces of the body; nil: they are collected.
    /// - Returns: The header and the body.
    /// - Throws: `HTTPFailure`.
    static func run(
        _ request: URLRequest, limits: HTTPLimits, beat: () -> Void,
        receive: ((HTTPURLResponse, Data) throws(HubError) -> Void)? = nil
    ) throws(HTTPFailure) -> HTTPAnswer {
        let exchange = HTTPExchange(limits, receive)
        let settings = URLSessionConfiguration.ephemeral
        settings.httpCookieStorage = nil
        settings.httpShouldSetCookies = false
        settings.urlCache = nil
        settings.urlCredentialStorage = nil
        settings.timeoutIntervalForRequest = 600
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(
            configuration: settings, delegate: exchange, delegateQueue: queue)
        let task = session.dataTask(with: request)
        task.resume()
        defer { session.invalidateAndCancel() }
        let began = ContinuousClock.now
        while exchange.ended.wait(timeout: .now() + .milliseconds(200)) == .timedOut {
            beat()
            let last = exchange.lock.withLock { exchange.last }
            if .now - last > limits.idle || .now - began > limits.total {
                throw .network("the server was silent or too slow")
            }
        }
        return try exchange.answer()
    }

    private func answer() throws(HTTPFailure) -> HTTPAnswer {
        let (failure, response, body) = lock.withLock { (self.failure, self.response, self.body) }
        if let failure { throw failure }
        guard let response else { throw .network("the server sent no answer") }
        return HTTPAnswer(response: response, body: body)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // The caller follows by itself: here the token would go along.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        lock.withLock {
            last = .now
            self.response = response as? HTTPURLResponse
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let response: HTTPURLResponse? = lock.withLock {
            last = .now
            guard failure == nil else { return nil }
            received += data.count
            if received > limits.bytes { failure = .tooLong }
            return failure == nil ? self.response : nil
        }
        guard let response else { return dataTask.cancel() }
        guard let receive else { return lock.withLock { body.append(data) } }
        do throws(HubError) {
            try receive(response, data)
        } catch {
            lock.withLock { failure = .storage(error) }
            dataTask.cancel()
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        lock.withLock {
            if let response = task.response as? HTTPURLResponse, self.response == nil {
                self.response = response
            }
            // Only the code: its description may hold the URL, whose query may be a signature.
            if let error, failure == nil {
                failure = .network(
                    "the connection failed (URLError \((error as NSError).code))")
            }
        }
        ended.signal()
    }
}
