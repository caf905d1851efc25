import Foundation
import FoundationNetworking
import SkeinHub
import SkeinJSON

/// `skein-fetch exchange`: sends one request after another for `skein`, until its standard input ends.
enum Exchanges {
    /// Bytes of an answer: a run with a hundred notes of 8,000 characters.
    private static let answerBytes = 4 << 20
    /// Bytes of an answer that fits into a line, whatever is escaped.
    private static let lineBytes = 10 << 10
    private static let limits = HTTPLimits(
        bytes: answerBytes, idle: .seconds(Entrypoint.idle(at: 15)), total: .seconds(30),
        keepsErrors: true)

    /// - Returns: the exit status.
    static func run(environment: [String: String]) -> Int32 {
        // Ctrl-C on a terminal is meant for skein, which still sends the end of the run.
        signal(SIGINT, SIG_IGN)
        // A session that waits for the first byte of an answer uses a whole core (docs/LOG.md).
        _ = nice(19)
        var lines = LineBuffer()
        do {
            while true {
                while let line = try lines.next() {
                    let request = try FetchLine.read(ExchangeRequest.self, line)
                    let answer = send(request, authorization: authorization(environment))
                    guard write(answer) else { return 1 }
                }
                guard try lines.fill(from: STDIN_FILENO) else { return 0 }
            }
        } catch {
            // `skein` sees that this process has ended, and says so.
            return 1
        }
    }

    /// The value of the header, as MLflow's own client makes it.
    static func authorization(_ environment: [String: String]) -> String? {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        if let name = value(ExchangeMode.nameVariable),
            let password = value(ExchangeMode.passwordVariable)
        {
            return "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
        }
        return value(ExchangeMode.tokenVariable).map { "Bearer " + $0 }
    }

    private static func send(_ request: ExchangeRequest, authorization: String?) -> ExchangeAnswer {
        guard let url = URL(string: request.url), ["http", "https"].contains(url.scheme ?? "")
        else {
            return .failed(problem: "not a URL")
        }
        if authorization?.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F }) == true {
            return .failed(problem: "\(ExchangeMode.tokenVariable) is no value of a header")
        }
        var message = URLRequest(request.method.rawValue, url, authorization: authorization)
        if let body = request.body {
            message.setValue("application/json", forHTTPHeaderField: "Content-Type")
            message.httpBody = Data(body.utf8)
        }
        let trap = ExchangeAnswer.failed(problem: TrapNotice.problem)
        do throws(HTTPFailure) {
            let answer = try TrapNotice.saying(trap) { () throws(HTTPFailure) in
                try HTTPTransfer.run(message, limits: limits, beat: endWithParent)
            }
            let body = answer.body.count > lineBytes ? reduced(answer.body) : answer.body
            return .answered(
                status: answer.status, body: String(decoding: body, as: UTF8.self))
        } catch {
            switch error {
            case .network(let problem): return .failed(problem: problem)
            case .tooLong: return .failed(problem: "the answer is longer than \(answerBytes) bytes")
            case .storage: return .failed(problem: "the answer could not be kept")
            }
        }
    }

    /// An answer without what people and other tools write to a run, of which nothing is used.
    static func reduced(_ body: Data) -> Data {
        let unused: Set = ["tags", "params", "inputs", "outputs"]
        func reduced(_ value: JSONValue) -> JSONValue {
            switch value {
            case .object(let fields):
                .object(
                    fields.filter { !unused.contains($0.name) }.map {
                        JSONField(name: $0.name, value: reduced($0.value))
                    })
            case .list(let items): .list(items.map(reduced))
            default: value
            }
        }
        do {
            return Data(reduced(try JSONReader.read(Array(body), .foundation)).utf8)
        } catch {
            // No JSON: what it is, is told by who reads it.
            return body
        }
    }

    /// Ends this process once `skein` is gone: the answer is not waited for any more.
    private static func endWithParent() {
        var input = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
        if poll(&input, 1, 0) > 0, input.revents & Int16(POLLHUP) != 0 { _exit(1) }
    }

    private static func write(_ answer: ExchangeAnswer) -> Bool {
        let tooLong = ExchangeAnswer.failed(problem: "the answer is too long")
        // A short answer that says so stands in for one that is too long.
        guard let bytes = (try? FetchLine.bytes(answer)) ?? (try? FetchLine.bytes(tooLong)) else {
            return false
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
