import Foundation
import SkeinBasics
import SkeinHub
import SkeinLaunch

/// Has `skein-fetch exchange` send requests, one at a time; it is started with the first one, and again
/// when it has ended. Used by one thread at a time.
final class FetcherExchange: @unchecked Sendable {
    // Sendable: `lock` guards `child` against `close`.
    private let lock = NSLock()
    private let program: String
    private var child: ChildProcess?
    private var lines = LineBuffer()

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

    /// Tells a child the request; another one, where the first has ended after its last answer: what it
    /// was not told as a whole it has not sent.
    ///
    /// - Parameter line: the request.
    /// - Returns: the child that was told.
    /// - Throws: where none is started, or a new one has ended.
    private func told(_ line: [UInt8]) throws -> ChildProcess {
        let isNew = child == nil
        let first = try running()
        if first.tell(line) { return first }
        end()
        guard !isNew else { throw Problem(text: "skein-fetch has ended") }
        let second = try running()
        guard second.tell(line) else { throw Problem(text: "skein-fetch has ended") }
        return second
    }

    private func running() throws -> ChildProcess {
        if let child {
            // It ended after its last answer, or says what nothing asked for.
            var request = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 0) > 0 else { return child }
            end()
        }
        lines = LineBuffer()
        // The system's network code traps on some answers.
        let started = try ChildProcess.talking(
            [program, ExchangeMode.argument], variables: ["SWIFT_BACKTRACE": "enable=no"])
        child = started
        return started
    }

    /// The next line of the child, which gives an exchange up after 30 s.
    private func answer(of child: ChildProcess) throws -> ExchangeAnswer {
        let deadline = ContinuousClock.now + Limits.exchange
        while true {
            if let line = try lines.next() { return try FetchLine.read(ExchangeAnswer.self, line) }
            let rest = deadline - .now
            guard rest > .zero else { throw Problem(text: "skein-fetch does not answer") }
            var request = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
            let milliseconds = min(1000, Int32(rest / .milliseconds(1)) + 1)
            guard poll(&request, 1, milliseconds) > 0 else { continue }
            guard try lines.fill(from: child.output) else {
                throw Problem(text: "skein-fetch has ended")
            }
        }
    }

    private func end() {
        child?.end()
        child = nil
    }

    /// Ends the child, after the exchange that is under way.
    func close() { lock.withLock { end() } }
}
