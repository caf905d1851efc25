import Foundation
import SkeinBasics
import SkeinHub
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinExports

/// The real `skein-fetch` against an MLflow server on loopback (`Tests/Fixtures/mlflow/fake_mlflow.py`).
@Suite("exchanges with a server")
struct FetcherExchangeTests {
    init() {
        // As `skein` does: a fetcher may be gone before it is written to.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Tries: a fetcher has the lowest priority, and a busy machine may keep it from an exchange for longer
    /// than its limits allow.
    private static let tries = 10

    @Test("what a server does wrong is an error within a bounded time, and the next exchange works")
    func faults() throws {
        try MLflowOnLoopback.with { server in
            // Variables of this process reach the child only through `ChildProcess`; a shell sets one.
            let exchange = FetcherExchange(program: try server.fetcher(["SKEIN_FETCH_IDLE": "2"]))
            defer { exchange.close() }
            let request = ExchangeRequest(
                .get,
                url: server.url + "/api/2.0/mlflow/experiments/get-by-name?experiment_name=x")
            let usual = ExchangeAnswer.answered(
                status: 404,
                body: #"{"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such thing"}"#)
            for fault in ["down", "long", "hang"] {
                // Once in these tries the very next exchange works.
                let works = try (0..<Self.tries).contains { _ in
                    try server.set(fault, true)
                    guard case .failed(let problem) = exchange.send(request) else {
                        Issue.record("\(fault) was answered")
                        return false
                    }
                    #expect(!problem.isEmpty && !problem.contains(server.url))
                    try server.set(fault, false)
                    return exchange.send(request) == usual
                }
                try #require(works, "\(fault)")
            }
            // What people write to a run is not passed on.
            try server.set("notes", true)
            let noted = try Self.answer { exchange.send(request) }
            #expect(noted.body.contains("RESOURCE_DOES_NOT_EXIST") && noted.body.utf8.count < 1000)
            #expect(noted.status == 404)
            try server.set("notes", false)
            try server.set("garbage", true)
            let garbage = try Self.answer { exchange.send(request) }
            #expect(garbage == (200, "<html>Please log in</html>"))
            try server.set("garbage", false)
        }
    }

    /// What is answered at the first of a few tries at which anything is.
    private static func answer(
        _ send: () throws -> ExchangeAnswer
    ) throws -> (status: Int, body: String) {
        var problems: [String] = []
        for _ in 0..<tries {
            switch try send() {
            case .answered(let status, let body): return (status, body)
            case .failed(let problem): problems.append(problem)
            }
        }
        Issue.record("\(problems)")
        throw NotAnswered()
    }

    private struct NotAnswered: Error {}

    @Test("the secret of the environment is sent, as MLflow's client sends it")
    func secret() throws {
        try MLflowOnLoopback.with { server in
            for (variables, header) in [
                ([:], "none"),
                (["MLFLOW_TRACKING_TOKEN": "abc"], "Bearer abc"),
                (["MLFLOW_TRACKING_USERNAME": "u", "MLFLOW_TRACKING_PASSWORD": "p"], "Basic dTpw"),
            ] as [([String: String], String)] {
                let program = try server.fetcher(variables)
                // Each time the first exchange of a fetcher.
                _ = try Self.answer {
                    let exchange = FetcherExchange(program: program)
                    defer { exchange.close() }
                    return exchange.send(ExchangeRequest(.get, url: server.url + "/x"))
                }
                let sent = try String(
                    contentsOfFile: server.directory + "/authorization", encoding: .utf8)
                #expect(sent.split(separator: "\n").last.map(String.init) == header)
            }
            let program = try server.fetcher(["MLFLOW_TRACKING_TOKEN": "a\nb"])
            let refused = ExchangeAnswer.failed(
                problem: "MLFLOW_TRACKING_TOKEN is no value of a header")
            let isRefused = (0..<Self.tries).contains { _ in
                let exchange = FetcherExchange(program: program)
                defer { exchange.close() }
                return exchange.send(ExchangeRequest(.get, url: server.url + "/x")) == refused
            }
            #expect(isRefused)
        }
    }

    @Test("a fetcher that ends is started again, and one that is not there is an error")
    func ended() throws {
        let exchange = FetcherExchange(program: "/nowhere/skein-fetch")
        guard case .failed = exchange.send(ExchangeRequest(.get, url: "http://h")) else {
            Issue.record("it was answered")
            return
        }
        let silent = FetcherExchange(program: "/bin/true")
        #expect(
            silent.send(ExchangeRequest(.get, url: "http://h"))
                == .failed(problem: "skein-fetch has ended"))
        try TestPaths.withTemporaryDirectory { directory in
            // Answers one request of each process.
            let script = directory + "/fetch"
            let line = #"{"answered":{"status":200,"body":"x"}}"#
            try ShellScript.write("read x\necho '\(line)'\n", at: script)
            let exchange = FetcherExchange(program: script)
            defer { exchange.close() }
            var answers = 0
            for _ in 0..<6
            where
                exchange.send(ExchangeRequest(.get, url: "http://h"))
                == .answered(status: 200, body: "x")
            { answers += 1 }
            #expect(answers >= 3)
        }
    }
}
