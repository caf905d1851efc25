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
    @Test("what a server does wrong is an error within a bounded time, and the next exchange works")
    func faults() throws {
        try MLflowOnLoopback.with { server in
            // Variables of this process reach the child only through `ChildProcess`; a shell sets one.
            let program = try server.fetcher(["SKEIN_FETCH_IDLE": "2"])
            let exchange = FetcherExchange(program: program)
            defer { exchange.close() }
            let request = ExchangeRequest(
                .get,
                url: server.url + "/api/2.0/mlflow/experiments/get-by-name?experiment_name=x")
            func answer() -> ExchangeAnswer { exchange.send(request) }
            func answered() -> ExchangeAnswer { Self.answer(of: exchange, to: request) }
            let usual = ExchangeAnswer.answered(
                status: 404,
                body: #"{"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such thing"}"#)
            #expect(answered() == usual)
            for fault in ["down", "long", "hang"] {
                try server.set(fault, true)
                guard case .failed(let problem) = answer() else {
                    Issue.record("\(fault) was answered")
                    continue
                }
                #expect(!problem.isEmpty && !problem.contains(server.url))
                try server.set(fault, false)
                #expect(answered() == usual, "\(fault)")
            }
            // What people write to a run is not passed on.
            try server.set("notes", true)
            guard case .answered(404, let body) = answered() else {
                Issue.record("notes were too long")
                return
            }
            #expect(body.contains("RESOURCE_DOES_NOT_EXIST") && body.utf8.count < 1000)
            try server.set("notes", false)
            try server.set("garbage", true)
            #expect(answered() == .answered(status: 200, body: "<html>Please log in</html>"))
            try server.set("garbage", false)
            #expect(answered() == usual)
        }
    }

    /// What the server says in the end: a fetcher has the lowest priority, and a busy machine may keep it
    /// from its exchange for longer than its limits allow.
    private static func answer(of exchange: FetcherExchange, to request: ExchangeRequest)
        -> ExchangeAnswer
    {
        var last = exchange.send(request)
        for _ in 0..<20 {
            guard case .failed = last else { return last }
            last = exchange.send(request)
        }
        return last
    }

    @Test("the secret of the environment is sent, as MLflow's client sends it")
    func secret() throws {
        try MLflowOnLoopback.with { server in
            for (variables, header) in [
                ([:], "none"),
                (["MLFLOW_TRACKING_TOKEN": "abc"], "Bearer abc"),
                (["MLFLOW_TRACKING_USERNAME": "u", "MLFLOW_TRACKING_PASSWORD": "p"], "Basic dTpw"),
            ] as [([String: String], String)] {
                let exchange = FetcherExchange(program: try server.fetcher(variables))
                defer { exchange.close() }
                let answer = Self.answer(
                    of: exchange, to: ExchangeRequest(.get, url: server.url + "/x"))
                guard case .answered = answer else {
                    Issue.record("\(header): \(answer)")
                    continue
                }
                let sent = try String(
                    contentsOfFile: server.directory + "/authorization", encoding: .utf8)
                #expect(sent.split(separator: "\n").last.map(String.init) == header)
            }
            let exchange = FetcherExchange(
                program: try server.fetcher(["MLFLOW_TRACKING_TOKEN": "a\nb"]))
            defer { exchange.close() }
            let answer = exchange.send(ExchangeRequest(.get, url: server.url + "/x"))
            #expect(answer == .failed(problem: "MLFLOW_TRACKING_TOKEN is no value of a header"))
        }
    }

    @Test("a fetcher that ends is started again, and one that is not there is an error")
    func ended() throws {
        // As `skein` does: one of these is gone before it is written to.
        signal(SIGPIPE, SIG_IGN)
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
