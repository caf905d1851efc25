import Foundation
import FoundationNetworking
import SkeinBasics
import SkeinHub

/// What one transfer may cost.
struct HTTPLimits: Sendable {
    /// Bytes of a body; the transfer ends when more arrive.
    var bytes: Int
    /// A transfer without a byte for this long has failed.
    var idle: Duration
    /// The whole transfer.
    var total: Duration
    /// Whether the body of an error is handed on; else its header says what it means.
    var keepsErrors = false
}

extension URLRequest {
    /// A request with the headers of all.
    init(_ method: String, _ url: URL, authorization: String?) {
        self.init(url: url)
        httpMethod = method
        setValue("skein/\(Version.text)", forHTTPHeaderField: "User-Agent")
        setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        if let authorization { setValue(authorization, forHTTPHeaderField: "Authorization") }
    }
}

/// A header and, unless it was handed on, a body.
struct FetchedAnswer {
    var response: HTTPURLResponse
    var body: Data

    var status: Int { response.statusCode }

    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
}

/// A transfer that did not end.
enum HTTPFailure: Error {
    /// The connection failed or was silent; the text has no URL.
    case network(String)
    /// More bytes than allowed, or than were announced.
    case tooLong
    /// What the receiver of the body threw.
    case storage(HubError)
}

/// One request, without redirects. The caller waits on its own thread; bytes arrive on another.
final class HTTPTransfer: @unchecked Sendable {
    // `lock` guards every variable but `isOver`, which `delivery` guards.
    private let lock = NSLock()
    /// Held while `receive` runs: a transfer that is given up hands on nothing afterwards.
    private let delivery = NSLock()
    private var isOver = false
    private let ended = DispatchSemaphore(value: 0)
    private let limits: HTTPLimits
    private let receive: ((HTTPURLResponse, Data) throws(HubError) -> Void)?
    private var response: HTTPURLResponse?
    private var body = Data()
    private var received = 0
    /// How much of the body of a redirect or an error is read, so that the connection is kept.
    private static let ignoredBytes = 1 << 16
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
    ) throws(HTTPFailure) -> FetchedAnswer {
        let transfer = HTTPTransfer(limits, receive)
        let task = HTTPRouter.shared.start(request, for: transfer)
        defer {
            HTTPRouter.shared.end(task)
            transfer.delivery.withLock { transfer.isOver = true }
        }
        let began = ContinuousClock.now
        while transfer.ended.wait(timeout: .now() + .milliseconds(200)) == .timedOut {
            beat()
            let last = transfer.lock.withLock { transfer.last }
            if .now - last > limits.idle || .now - began > limits.total {
                throw .network("the server was silent or too slow")
            }
        }
        return try transfer.answer()
    }

    private func answer() throws(HTTPFailure) -> FetchedAnswer {
        let (failure, response, body) = lock.withLock { (self.failure, self.response, self.body) }
        if let failure { throw failure }
        guard let response else { throw .network("the server sent no answer") }
        return FetchedAnswer(response: response, body: body)
    }

    /// The server wants a name and a password: its answer is the header alone.
    fileprivate func refuse(_ response: URLResponse?) {
        lock.withLock {
            guard failure == nil, self.response == nil else { return }
            self.response = response as? HTTPURLResponse
        }
        giveUp()
    }

    fileprivate func begin(_ response: URLResponse) {
        lock.withLock {
            last = .now
            self.response = response as? HTTPURLResponse
        }
    }

    fileprivate func take(_ data: Data) {
        let response: HTTPURLResponse? = lock.withLock {
            last = .now
            guard failure == nil else { return nil }
            received += data.count
            // A redirect or an error says what it means in its header; its text is for people.
            if let response = self.response, !(200...299).contains(response.statusCode),
                !limits.keepsErrors
            {
                return nil
            }
            if received > limits.bytes { failure = .tooLong }
            return failure == nil ? self.response : nil
        }
        guard let response else {
            if lock.withLock({ failure != nil || received > Self.ignoredBytes }) { giveUp() }
            return
        }
        guard let receive else { return lock.withLock { body.append(data) } }
        delivery.lock()
        defer { delivery.unlock() }
        guard !isOver else { return }
        do throws(HubError) {
            try receive(response, data)
        } catch {
            lock.withLock { failure = .storage(error) }
            giveUp()
        }
    }

    /// Ends the transfer now; `run` cancels the task.
    private func giveUp() { ended.signal() }

    /// What libcurl says of a failure, such as "Could not resolve host", if it is short and has no URL,
    /// whose query may be a signature; else the code alone.
    private static func text(of error: any Error) -> String {
        let code = "URLError \((error as NSError).code)"
        let said = (error as NSError).localizedDescription
        let isPlain =
            said.utf8.count <= 200 && !said.contains("://") && !said.contains("?")
            && said.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        return isPlain ? "\(said) (\(code))" : code
    }

    fileprivate func finish(_ task: URLSessionTask, _ error: (any Error)?) {
        lock.withLock {
            if let response = task.response as? HTTPURLResponse, self.response == nil {
                self.response = response
            }
            if let error, failure == nil {
                failure = .network("the connection failed: " + Self.text(of: error))
            }
        }
        ended.signal()
    }
}

/// The process's one session. A session for each transfer left descriptors behind that libdispatch
/// kept polling: 51 s of CPU for 1 GB in 63 pieces.
private final class HTTPRouter: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    static let shared = HTTPRouter()

    // `lock` guards `transfers`; `session` is set once, by the thread that makes `shared`.
    private let lock = NSLock()
    private var transfers: [Int: HTTPTransfer] = [:]
    private var session: URLSession?
    private let cancellations = DispatchQueue(label: "skein-fetch.cancellations")

    override private init() {
        super.init()
        let settings = URLSessionConfiguration.ephemeral
        settings.httpCookieStorage = nil
        settings.httpShouldSetCookies = false
        settings.urlCache = nil
        settings.urlCredentialStorage = nil
        settings.timeoutIntervalForRequest = 600
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: settings, delegate: self, delegateQueue: queue)
    }

    func start(_ request: URLRequest, for transfer: HTTPTransfer) -> URLSessionTask? {
        let task = session?.dataTask(with: request)
        lock.withLock { if let task { transfers[task.taskIdentifier] = transfer } }
        task?.resume()
        return task
    }

    /// Stops the task if it has not ended; nothing of it reaches the transfer from now on.
    func end(_ task: URLSessionTask?) {
        guard let task else { return }
        lock.withLock { transfers[task.taskIdentifier] = nil }
        // It waits for the session, which first reads on: 12 s and 2 GB from a server that floods.
        // Meanwhile the error is said and the process ends.
        cancellations.async { task.cancel() }
    }

    private func transfer(_ task: URLSessionTask) -> HTTPTransfer? {
        lock.withLock { transfers[task.taskIdentifier] }
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
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // 401 is an answer. The session would wait for a credential that never comes.
        transfer(task)?.refuse(challenge.failureResponse ?? task.response)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(dataTask)?.begin(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(dataTask)?.take(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        transfer(task)?.finish(task, error)
    }
}
