import Foundation
import SkeinBasics
import SkeinHub

/// Has `skein-fetch exchange` send requests, one at a time; it is started with the first one, and again
/// when it has ended. Used by one thread at a time.
final class FetcherExchange: @unchecked Sendable {
    // Sendable: `lock` guards `fetcher` against `close`.
    private let lock = NSLock()
    private let program: String
    private var fetcher: FetcherProcess?

    /// - Parameter program: the path of `skein-fetch`.
    init(program: String) {
        self.program = program
    }

    deinit { close() }

    /// - Returns: what came, or why nothing came: within 40 s.
    func send(_ request: ExchangeRequest) -> ExchangeAnswer {
        lock.withLock {
            do {
                return try answer(of: try told(try FetchLine.bytes(request)))
            } catch {
                end()
                let text = (error as? Problem)?.text
                let why = (error as? any Explained)?.explanation.what
                return .failed(problem: text ?? why ?? "\(error)")
            }
        }
    }

    private struct Problem: Error { let text: String }

    /// Tells a fetcher the request; another one, where the first has ended after its last answer: what it
    /// was not told as a whole it has not sent.
    ///
    /// - Parameter line: the request.
    /// - Returns: the fetcher that was told.
    /// - Throws: where none is started, or a new one has ended.
    private func told(_ line: [UInt8]) throws -> FetcherProcess {
        let isNew = fetcher == nil
        let first = try running()
        if first.tell(line) { return first }
        end()
        guard !isNew else { throw Problem(text: "skein-fetch has ended") }
        let second = try running()
        guard second.tell(line) else { throw Problem(text: "skein-fetch has ended") }
        return second
    }

    private func running() throws -> FetcherProcess {
        // If it is heard, it ended after its last answer, or says what nothing asked for.
        if let fetcher, !fetcher.isHeard(within: .zero) { return fetcher }
        end()
        let started = try FetcherProcess(
            program: program, [ExchangeMode.argument],
            environment: ProcessInfo.processInfo.environment, error: nil)
        fetcher = started
        return started
    }

    /// The next line of the fetcher, which gives an exchange up after 30 s.
    private func answer(of fetcher: FetcherProcess) throws -> ExchangeAnswer {
        let deadline = ContinuousClock.now + Limits.exchange
        while true {
            let rest = deadline - .now
            guard rest > .zero else { throw Problem(text: "skein-fetch does not answer") }
            switch try fetcher.news(within: min(rest, .seconds(1))) {
            case .line(let line): return try FetchLine.read(ExchangeAnswer.self, line)
            case .nothing: continue
            case .end: throw Problem(text: "skein-fetch has ended")
            }
        }
    }

    private func end() {
        fetcher?.end()
        fetcher = nil
    }

    /// Ends the fetcher, after the exchange that is under way.
    func close() { lock.withLock { end() } }
}
