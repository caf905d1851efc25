import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import SkeinTraining
import Testing

/// Runs that are sent to an MLflow server on loopback.
@Suite("runs sent to MLflow", .ownThreads)
struct MLflowRunTests {
    private let run = ["--epochs", "2", "--checkpoint-every", "3"]

    private func losses(_ bench: Workbench, _ output: String) throws -> [Int: Double] {
        var found: [Int: Double] = [:]
        try Metrics.read(path: bench.path(output + "/metrics.jsonl")) { record in
            if case .step(let metrics) = record { found[metrics.step] = metrics.loss }
        }
        return found
    }

    private func check(
        _ bench: Workbench, _ output: String, _ sent: MLflowOnLoopback.Run
    ) throws {
        let losses = sent.metrics.filter { $0.key == "train/loss" }.map { ($0.step, $0.value) }
        #expect(losses.count == 16)
        #expect(
            try Dictionary(losses, uniquingKeysWith: { $1 }) == self.losses(bench, output))
        #expect(sent.metrics.count { $0.key == "validation/loss" } == 3)
        #expect(sent.status == "FINISHED")
        #expect(sent.name == output)
        #expect(sent.params["batch-size"] == "4")
        let adapter = try RegularFile.digest(
            of: bench.path(output + "/adapter/adapter_model.safetensors"))
        #expect(sent.tags["skein.adapter_sha256"] == adapter.digest.description)
    }

    @Test("a run is there as it is, its result is the same, and a complete run is not sent twice")
    func whole() throws {
        try MLflowOnLoopback.with { server in
            try Workbench.with { bench in
                try bench.train("quiet", run)
                let flags = run + ["--mlflow", server.url + "/"]
                let ending = try bench.train("sent", flags)
                #expect(ending.error.contains("\(server.url)/#/experiments/"))
                #expect(try bench.result(of: "sent") == bench.result(of: "quiet"))
                try bench.train("sent", flags + ["--resume"])
                #expect(try server.runs.count == 1)
                try check(bench, "sent", try #require(server.runs.first))
            }
        }
    }

    @Test("a run whose server is away ends as ever, and is sent later")
    func away() throws {
        try MLflowOnLoopback.with { server in
            try server.set("down", true)
            try Workbench.with { bench in
                try bench.train("quiet", run)
                let ending = try bench.train("away", run + ["--mlflow", server.url])
                #expect(try bench.result(of: "away") == bench.result(of: "quiet"))
                let lines = ending.error.split(separator: "\n").filter {
                    $0.contains("does not answer")
                }
                #expect(lines.count == 1, "\(ending.error)")
                #expect(
                    ending.error.contains(
                        "skein sync \(bench.path("away")) --mlflow \(server.url)"))
                try server.set("down", false)
                let words = ["sync", bench.path("away"), "--mlflow", server.url]
                let sync = try SkeinProcess.run(words)
                #expect(sync.status == 0, "\(sync.error)")
                #expect(sync.output.contains("/#/experiments/"))
                let again = try SkeinProcess.run(words)
                #expect(again.output.contains("sent: 0 numbers"))
                #expect(try server.runs.count == 1)
                try check(bench, "away", try #require(server.runs.first))
                // A run that never heard of MLflow.
                let quiet = try SkeinProcess.run([
                    "sync", bench.path("quiet"), "--mlflow", server.url, "--json",
                ])
                #expect(quiet.status == 0, "\(quiet.error)")
                try check(bench, "quiet", try #require(server.runs.first { $0.name == "quiet" }))
                #expect(try bench.result(of: "quiet") == bench.result(of: "away"))
            }
        }
    }

    @Test("what cannot be sent is refused before anything begins")
    func refused() throws {
        try Workbench.with { bench in
            let flags = ["--mlflow", "127.0.0.1:5000"]
            Complaint(64, "127.0.0.1:5000", "--mlflow").check(
                try SkeinProcess.run(bench.trainWords("run", run + flags)))
            #expect(!FileManager.default.fileExists(atPath: bench.path("run")))
            Complaint(65, "run.json", "--output folder").check(
                try SkeinProcess.run(["sync", bench.path("run"), "--mlflow", "http://127.0.0.1:1"]))
            #expect(!FileManager.default.fileExists(atPath: bench.path("run")))
        }
    }
}
