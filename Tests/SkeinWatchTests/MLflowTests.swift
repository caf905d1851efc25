import Foundation
import SkeinBasics
import SkeinHub
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinWatch

@Suite("runs at MLflow", .ownThreads)
struct MLflowTests {
    /// A run's directory whose metrics.jsonl has steps and, after every third, a validation.
    private struct Directory {
        let path: String

        init(_ path: String, name: String = "run", model: String = "/models/m.gguf") throws {
            self.path = path + "/" + name
            try AtomicFile.makeDirectory(self.path)
            try RunFile(
                version: "1", fingerprint: "engine", model: model, data: "d",
                modelDigest: "aa", dataDigest: "bb", configuration: TrainingConfiguration.fixed
            ).write(to: self.path + "/run.json")
        }

        func compute(_ steps: ClosedRange<Int>, seconds: Double = 2) throws {
            let metrics = try Metrics(
                path: path + "/metrics.jsonl", keepingThroughStep: steps.lowerBound - 1)
            for step in steps {
                try metrics.append(
                    StepMetrics(
                        step: step, epoch: 1, loss: 1 / Double(step), tokens: 7, lossTokens: 5,
                        learningRate: 0.1, gradientNorm: 1, seconds: seconds, tokensPerSecond: 3.5,
                        workers: 1))
                guard step % 3 == 0 else { continue }
                let loss = step % 2 == 0 ? nil : 2 / Double(step)
                try metrics.append(
                    ValidationMetrics(step: step, epoch: 1, loss: loss, tokens: 11))
                try metrics.append([
                    SampleMetrics(step: step, epoch: 1, prompt: "p", text: "t", tokens: 1)
                ])
            }
        }
    }

    private func session(
        _ server: FakeMLflow, _ directory: Directory, isRunning: Bool = true
    ) throws -> MLflowSession {
        let client = try MLflowServer("http://h:1/") { try server.exchange($0) }
        return MLflowSession(
            server: client, experiment: "e", name: "n", directory: directory.path,
            isRunning: isRunning)
    }

    private let ending = MLflowState.Ending(status: .finished, time: 9, adapter: "cafe")

    /// Sends all of a run, as a process does that may be killed and started again.
    private func send(_ server: FakeMLflow, _ directory: Directory) throws {
        var current = try session(server, directory)
        for _ in 0..<100 {
            do {
                try current.connect()
                while try current.sendSome(time: { step, _ in 1000 * step }) {}
                try current.remember(ending)
                return try current.end(ending)
            } catch is FakeMLflow.Killed {
                current = try session(server, directory)
            } catch let error as MLflowError where error.isTransient {}
        }
        Issue.record("it does not end")
    }

    /// One run, each number of `steps` once.
    private func check(
        _ server: FakeMLflow, _ steps: Int, _ comment: Comment,
        location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(server.runs.count == 1, comment, sourceLocation: location)
        let run = try #require(server.runs.first)
        var found: [String: [Int: Double]] = [:]
        for metric in run.metrics {
            #expect(
                found[metric.key, default: [:]].updateValue(metric.value, forKey: metric.step)
                    == nil, comment, sourceLocation: location)
            #expect(metric.timestamp == 1000 * metric.step, comment, sourceLocation: location)
        }
        let losses = Dictionary(uniqueKeysWithValues: (1...steps).map { ($0, 1 / Double($0)) })
        #expect(found["train/loss"] == losses, comment, sourceLocation: location)
        #expect(found["train/tokens"]?.count == steps, comment, sourceLocation: location)
        let validations = stride(from: 3, through: steps, by: 6).map { ($0, 2 / Double($0)) }
        #expect(
            found["validation/loss"] == Dictionary(uniqueKeysWithValues: validations), comment,
            sourceLocation: location)
        #expect(found.count == 11, comment, sourceLocation: location)
        #expect(run.statuses.last == "FINISHED", comment, sourceLocation: location)
        #expect(run.tags["skein.adapter_sha256"] == "cafe", comment, sourceLocation: location)
        #expect(run.parameters["model"] == "/models/m.gguf", comment, sourceLocation: location)
        #expect(run.parameters["rank"] == "8", comment, sourceLocation: location)
        #expect(
            run.parameters["target-modules"]?.contains("q_proj") == true, comment,
            sourceLocation: location)
    }

    @Test("whatever request or answer is lost, and wherever the process is killed: numbers once")
    func faults() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let quiet = FakeMLflow()
            let first = try Directory(temporary)
            try first.compute(1...50)
            try send(quiet, first)
            try check(quiet, 50, "quiet")
            #expect(quiet.requests > 10)
            for place in 0..<quiet.requests + 2 {
                for fault in FakeMLflow.Fault.allCases {
                    let server = FakeMLflow()
                    server.faults = [place: fault, place + 1: fault, place + 4: fault]
                    let directory = try Directory(temporary, name: "\(place)-\(fault)")
                    try directory.compute(1...50)
                    try send(server, directory)
                    try check(server, 50, "\(fault) at \(place)")
                }
            }
        }
    }

    @Test("steps that a resumed run computes again are not sent again")
    func resume() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let server = FakeMLflow()
            let directory = try Directory(temporary)
            try directory.compute(1...57)
            let first = try session(server, directory)
            while try first.sendSome(time: { step, _ in 1000 * step }) {}
            try directory.compute(51...61, seconds: 3)
            try send(server, directory)
            try check(server, 61, "resumed")
        }
    }

    @Test("a validation before the first step is sent once, and the accuracy that decides, too")
    func atStart() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let server = FakeMLflow()
            let directory = try Directory(temporary)
            do {
                let metrics = try Metrics(
                    path: directory.path + "/metrics.jsonl", keepingThroughStep: -1)
                for step in [0, 3] {
                    try metrics.append(
                        ValidationMetrics(
                            step: step, epoch: 0, loss: 4 - Double(step), tokens: 11,
                            tokenAccuracy: 0.25, namesAccuracy: true))
                }
            }
            // Three processes, of which each asks the server what it has.
            for _ in 0..<3 { try send(server, directory) }
            let run = try #require(server.runs.first)
            for (key, values) in [
                ("validation/loss", [4, 1]), ("validation/accuracy", [0.25, 0.25]),
            ] {
                let found = run.metrics.filter { $0.key == key }
                #expect(found.map(\.step) == [0, 3] && found.map(\.value) == values)
            }
        }
    }

    @Test("what is appended while the run goes on is sent, and a damaged line is left out")
    func growing() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let server = FakeMLflow()
            let directory = try Directory(temporary)
            try directory.compute(1...4)
            let current = try session(server, directory)
            while try current.sendSome(time: { step, _ in 1000 * step }) {}
            let before = server.requests
            while try current.sendSome(time: { step, _ in 1000 * step }) {}
            #expect(server.requests == before, "nothing new, nothing sent")
            let path = directory.path + "/metrics.jsonl"
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: Data("{\"step\":4,\"garb\n\n{\"step\":5".utf8))
            while try current.sendSome(time: { step, _ in 1000 * step }) {}
            #expect(current.damagedLines == 1)
            try directory.compute(5...9)
            try send(server, directory)
            try check(server, 9, "grown")
        }
    }

    @Test("times of steps that were not seen follow from their durations")
    func times() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let server = FakeMLflow()
            let directory = try Directory(temporary)
            try directory.compute(1...3, seconds: 2.5)
            let current = try session(server, directory)
            #expect(try current.recorded().seconds == 7.5)
            while try current.sendSome(time: { Int($1 * 1000) + 1_000_000 }) {}
            let times = server.runs[0].metrics.filter { $0.key == "train/loss" }.map(\.timestamp)
            #expect(times == [1_002_500, 1_005_000, 1_007_500])
        }
    }

    @Test("answers that are none of MLflow's are errors that say so")
    func hostile() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let directory = try Directory(temporary)
            let wild: [ExchangeAnswer] = [
                .answered(status: 200, body: ""), .answered(status: 200, body: "[]"),
                .answered(status: 200, body: #"{"experiment": {"experiment_id": 3}}"#),
                .answered(status: 200, body: #"{"experiment": {"experiment_id": "../../x"}}"#),
                .answered(status: 200, body: #"{"experiment": {"experiment_id": ""}}"#),
                .answered(status: 302, body: ""), .answered(status: -1, body: ""),
                .answered(status: 500, body: #"{"message": "\u001b[31mred\nline"}"#),
                .answered(status: 403, body: String(repeating: "[", count: 20_000)),
                .failed(problem: String(repeating: "x", count: 10_000)),
            ]
            for answer in wild {
                let server = try MLflowServer("http://h") { _ in answer }
                let current = MLflowSession(
                    server: server, experiment: "e", name: "n", directory: directory.path,
                    isRunning: true)
                let error = try #require(throws: MLflowError.self) { try current.connect() }
                let shown = error.explanation
                #expect(shown.what.utf8.count < 500)
                #expect(!shown.what.unicodeScalars.contains { $0.value < 0x20 }, "\(shown.what)")
                #expect(!shown.remedy.isEmpty)
            }
        }
    }

    @Test("a run without an adapter was killed; one whose adapter cannot be read is an error")
    func endings() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let written = try Directory(temporary)
            try written.compute(1...3)
            let directory = try RunDirectory(path: written.path, resuming: true)
            try AtomicFile.makeDirectory(directory.checkpoints.path(ofStep: 3))
            #expect(try MLflowSync.ending(of: directory, 3).status == .killed)
            let weights = directory.adapter + "/adapter_model.safetensors"
            try AtomicFile.makeDirectory(directory.adapter)
            try AtomicFile.write("x", to: weights)
            #expect(try MLflowSync.ending(of: directory, 2).status == .killed)
            #expect(try MLflowSync.ending(of: directory, 3).status == .finished)
            try FileManager.default.removeItem(atPath: weights)
            try FileManager.default.createSymbolicLink(
                atPath: weights, withDestinationPath: weights)
            #expect(throws: FileError.failed(operation: "open", path: weights, code: ELOOP)) {
                try MLflowSync.ending(of: directory, 3)
            }
        }
    }

    @Test("a run that was deleted there is not made again, and a damaged mlflow.json is an error")
    func state() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let directory = try Directory(temporary)
            try directory.compute(1...2)
            try send(FakeMLflow(), directory)
            let error = try #require(throws: MLflowError.self) {
                try session(FakeMLflow(), directory).connect()
            }
            #expect(!error.isTransient)
            #expect(error.explanation.remedy.contains("remove mlflow.json"))
            let path = directory.path + "/mlflow.json"
            let good = try String(contentsOfFile: path, encoding: .utf8)
            for text in [
                "", "[]", String(repeating: " ", count: 20_000),
                good.replacingOccurrences(of: "\"r0\"", with: "\"r0/../x\""),
                good.replacingOccurrences(of: "\"time\" : 9", with: "\"time\" : \(Int.min)"),
                good.replacingOccurrences(of: "\"time\" : 9", with: "\"time\" : \(Int.max)"),
            ] {
                try AtomicFile.write(text, to: path)
                #expect(throws: MLflowError.self) {
                    try session(FakeMLflow(), directory).connect()
                }
            }
            // Another server: another run.
            try AtomicFile.write(good.replacingOccurrences(of: "//h:1", with: "//h:2"), to: path)
            let other = FakeMLflow()
            try send(other, directory)
            #expect(other.runs.count == 1)
        }
    }

    @Test("where run.json cannot be read, no run is made there")
    func damagedRun() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let directory = try Directory(temporary)
            try directory.compute(1...2)
            let file = directory.path + "/run.json"
            let good = try String(contentsOfFile: file, encoding: .utf8)
            try AtomicFile.write("{", to: file)
            let server = FakeMLflow()
            let session = try session(server, directory)
            #expect(throws: TrainingError.self) { try session.connect() }
            #expect(server.runs.isEmpty)
            try AtomicFile.write(good, to: file)
            try session.connect()
            #expect(server.runs.first?.parameters["model"] == "/models/m.gguf")
        }
    }

    @Test("the same server by another name has one run")
    func otherName() throws {
        try TestPaths.withTemporaryDirectory { temporary in
            let directory = try Directory(temporary)
            try directory.compute(1...9)
            let server = FakeMLflow()
            try send(server, directory)
            let client = try MLflowServer("http://other") { try server.exchange($0) }
            let again = MLflowSession(
                server: client, experiment: "e", name: "n", directory: directory.path,
                isRunning: true)
            while try again.sendSome(time: { step, _ in 1000 * step }) {}
            #expect(again.sentPoints == 0)
            try again.end(ending)
            try check(server, 9, "by another name")
        }
    }

    @Test(
        "URLs that are refused",
        arguments: [
            "", "h:5000", "127.0.0.1:5000", "ftp://h", "http://", "http://u:p@h", "http://h?x=1",
            "http://h#x", "http://h:99999", "http://h:0", "file:///x",
            "http://" + String(repeating: "h", count: 3000),
        ])
    func urls(text: String) {
        #expect(throws: MLflowError.badURL(text)) { try MLflowServer.checked(text) }
    }

    @Test("a URL may have a path, and a slash at its end does not count")
    func paths() throws {
        #expect(try MLflowServer.checked("https://h/mlflow/") == "https://h/mlflow")
    }

    @Test("values of parameters are cut where a server would refuse them")
    func parameters() throws {
        #expect(MLflowParameters.cut("short") == "short")
        let cut = MLflowParameters.cut(String(repeating: "é", count: 400))
        #expect(cut.utf8.count <= 500 && cut.hasSuffix("é..."))
    }
}
