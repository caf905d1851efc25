import Foundation
import SkeinBasics
import SkeinHub
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinWatch

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
            // While `fault` is on, `check` judges what is answered; then the very next exchange works. Again,
            // where a round is none because nothing was answered that should have been.
            func rounds(_ fault: String, _ check: (ExchangeAnswer) -> Bool) throws {
                for _ in 0..<Self.tries {
                    try server.set(fault, true)
                    let isJudged = check(exchange.send(request))
                    try server.set(fault, false)
                    let next = exchange.send(request)
                    guard isJudged, case .answered = next else { continue }
                    #expect(next == usual, "\(fault)")
                    return
                }
                Issue.record("\(fault): no exchange worked in \(Self.tries) rounds")
            }
            for fault in ["down", "long", "hang", "trap"] {
                try rounds(fault) { answer in
                    guard case .failed(let problem) = answer else {
                        Issue.record("\(fault) was answered")
                        return true
                    }
                    #expect(!problem.isEmpty && !problem.contains(server.url))
                    return true
                }
            }
            // What people write to a run is not passed on.
            try rounds("notes") { answer in
                guard case .answered(let status, let body) = answer else { return false }
                #expect(status == 404)
                #expect(body.contains("RESOURCE_DOES_NOT_EXIST") && body.utf8.count < 1000)
                return true
            }
            try rounds("garbage") { answer in
                guard case .answered = answer else { return false }
                #expect(answer == .answered(status: 200, body: "<html>Please log in</html>"))
                return true
            }
        }
    }

    /// What a fetcher answers to its first exchange; another one's, where a fetcher did not come to it.
    private static func firstAnswer(
        of program: String, to request: ExchangeRequest
    ) throws -> ExchangeAnswer {
        for _ in 0..<tries {
            let exchange = FetcherExchange(program: program)
            defer { exchange.close() }
            let answer = exchange.send(request)
            if case .failed(let problem) = answer, problem != refusal { continue }
            return answer
        }
        Issue.record("nothing was answered in \(tries) tries")
        throw NotAnswered()
    }

    private struct NotAnswered: Error {}

    private static let refusal = "MLFLOW_TRACKING_TOKEN is no value of a header"

    @Test("the secret of the environment is sent, as MLflow's client sends it")
    func secret() throws {
        try MLflowOnLoopback.with { server in
            for (variables, header) in [
                ([:], "none"),
                (["MLFLOW_TRACKING_TOKEN": "abc"], "Bearer abc"),
                (["MLFLOW_TRACKING_USERNAME": "u", "MLFLOW_TRACKING_PASSWORD": "p"], "Basic dTpw"),
            ] as [([String: String], String)] {
                let program = try server.fetcher(variables)
                let answer = try Self.firstAnswer(
                    of: program, to: ExchangeRequest(.get, url: server.url + "/x"))
                guard case .answered = answer else {
                    Issue.record("\(header): \(answer)")
                    continue
                }
                let sent = try String(
                    contentsOfFile: server.directory + "/authorization", encoding: .utf8)
                #expect(sent.split(separator: "\n").last.map(String.init) == header)
            }
            let program = try server.fetcher(["MLFLOW_TRACKING_TOKEN": "a\nb"])
            let answer = try Self.firstAnswer(
                of: program, to: ExchangeRequest(.get, url: server.url + "/x"))
            #expect(answer == .failed(problem: Self.refusal))
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
