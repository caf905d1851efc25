import Foundation
import SkeinBasics
import SkeinTestSupport
import SkeinTraining
import Synchronization
import Testing

@testable import SkeinCluster

/// A coordinator and workers on threads of this process, over loopback, with a tiny model.
@Suite("a coordinator and its workers in one process", .ownThreads)
struct ClusterNodeTests {
    private struct Bench {
        let directory: String
        var configuration = TrainingConfiguration.fixed

        var model: String { directory + "/tiny.gguf" }

        func coordinator(
            listen: String = "127.0.0.1:0", localWorkers: Int = 0, data: String = "rows.jsonl"
        ) throws -> CoordinatorRun {
            let job = try TrainingJob(
                configuration: configuration, modelPath: model,
                dataPath: directory + "/" + data, version: "test")
            return try CoordinatorRun(
                job: job, directory: RunDirectory(path: directory + "/run", resuming: false),
                options: CoordinatorOptions(
                    listen: listen, token: nil, localWorkers: localWorkers),
                log: Log(), samples: .silent)
        }
    }

    /// A worker on a thread of its own.
    private final class BackgroundWorker: Sendable {
        private let ending = Promise<Result<WorkerOutcome, any Error>>()
        private let drains = Atomic<Bool>(false)

        init(_ coordinator: String, model: String) {
            let options = WorkerOptions(
                coordinator: coordinator, token: nil, modelPath: model, threads: 1, name: "w")
            let thread = Thread { [self] in
                ending.keep(
                    Result {
                        try WorkerNode.run(options, log: Log(), version: "test") {
                            self.drains.load(ordering: .relaxed)
                        }
                    })
            }
            thread.start()
        }

        func drain() { drains.store(true, ordering: .relaxed) }

        /// How it ended; nil if it has not ended after a minute.
        func outcome() throws -> WorkerOutcome? {
            try ending.value(within: 60)?.get()
        }
    }

    private func withBench(_ body: (inout Bench) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var bench = Bench(directory: directory)
            try TinyModel().writeGGUF(to: bench.model)
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            bench.configuration.maxLength = 64
            bench.configuration.epochs = 1
            try body(&bench)
        }
    }

    @Test("a worker of a removed run works for the run that takes its place")
    func begunAnew() throws {
        try withBench { bench in
            let steps = Mutex(0)
            let first = try bench.coordinator()
            let worker = BackgroundWorker(first.address, model: bench.model)
            let ending = try first.run(
                report: { if case .step = $0 { steps.withLock { $0 += 1 } } },
                shouldStop: { steps.withLock { $0 } >= 3 })
            #expect(!ending.outcome.isComplete && ending.outcome.step == 3)
            try FileManager.default.removeItem(atPath: bench.directory + "/run")
            let second = try bench.coordinator(listen: first.address)
            let again = try second.run(report: { _ in }, shouldStop: { false })
            #expect(again.outcome.isComplete)
            #expect(try worker.outcome() == .complete)
        }
    }

    @Test("a coordinator that is refused at once raises no term")
    func refusedAtOnce() throws {
        try withBench { bench in
            let term = bench.directory + "/run/term"
            #expect(throws: NodeError.tokenRequired(address: "0.0.0.0:0")) {
                try bench.coordinator(listen: "0.0.0.0:0")
            }
            #expect(!FileManager.default.fileExists(atPath: term))
            bench.configuration.minWorkers = 65_536
            let error = #expect(throws: NodeError.self) { try bench.coordinator() }
            guard case .tooFewFiles = error else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(!FileManager.default.fileExists(atPath: term))
            bench.configuration.minWorkers = 1
            let node = try bench.coordinator()
            #expect(FileManager.default.fileExists(atPath: term))
            #expect(try !node.run(report: { _ in }, shouldStop: { true }).outcome.isComplete)
        }
    }

    @Test("a cluster's reference with the initial adapter has the bits of one process")
    func initialReference() throws {
        try withBench { bench in
            let rows = (0..<16).map {
                "{\"prompt\": \"\($0)?\", \"chosen\": \"the answer is \($0)\", \"rejected\": \"\($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: bench.directory + "/pairs.jsonl")
            try bench.configuration.set("loss", to: "dpo")
            bench.configuration.learningRate = 0.01
            bench.configuration.threads = 1
            func alone(_ name: String) throws -> RunEnding {
                let request = RunRequest(
                    configuration: bench.configuration, model: .path(bench.model),
                    data: bench.directory + "/pairs.jsonl", output: bench.directory + "/" + name,
                    tokenCache: nil)
                return try TrainingRun(request, resuming: false, samples: .silent).run(
                    report: { _ in }, shouldStop: { false })
            }
            let first = try alone("first")
            bench.configuration.initAdapter = first.directory.adapter
            bench.configuration.reference = .initial
            let expected = try alone("alone")
            let found = try bench.coordinator(localWorkers: 1, data: "pairs.jsonl").run(
                report: { _ in }, shouldStop: { false })
            #expect(found.outcome == expected.outcome && found.outcome.improvement != nil)
            #expect(
                try found.directory.adapterDigest() == expected.directory.adapterDigest())
            func recorded(_ ending: RunEnding) throws -> String? {
                try RunFile(path: ending.directory.runFile).referencesDigest
            }
            #expect(try recorded(found) == recorded(expected))
        }
    }

    @Test("Ctrl-C ends a coordinator that waits for more workers, and its local worker")
    func interruptedWhileWaiting() throws {
        try withBench { bench in
            bench.configuration.minWorkers = 2
            let node = try bench.coordinator(localWorkers: 1)
            let interrupted = Mutex<ContinuousClock.Instant?>(nil)
            let outcome = try node.run(report: { _ in }) {
                if interrupted.withLock({ $0 }) != nil { return true }
                let status = try? StatusQuery.ask(
                    coordinator: node.address, token: nil, version: "test", timeout: .seconds(5))
                // The worker has joined, and waits for the other one.
                let isIdle = String(decoding: status ?? [], as: UTF8.self).contains("\"idle\"")
                if isIdle { interrupted.withLock { $0 = .now } }
                return isIdle
            }.outcome
            #expect(!outcome.isComplete && outcome.step == 0)
            let since = try #require(interrupted.withLock { $0 })
            #expect(ContinuousClock.now - since < .seconds(30))
        }
    }

    @Test("without workers to evaluate the test rows, the run fails with workersMissing")
    func testRowsWithoutWorkers() throws {
        try withBench { bench in
            bench.configuration.validationSplit = 0
            bench.configuration.testData = bench.directory + "/rows.jsonl"
            bench.configuration.patience = .seconds(4)
            let node = try bench.coordinator()
            let worker = BackgroundWorker(node.address, model: bench.model)
            let report: (TrainingLoop.Event) throws -> Void = { event in
                guard case .step(let metrics, let count) = event, metrics.step == count
                else { return }
                worker.drain()
                let ending = try worker.outcome()
                #expect(ending == .drained)
            }
            let error = #expect(throws: NodeError.self) {
                _ = try node.run(report: report, shouldStop: { false })
            }
            guard case .workersMissing = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(
                FileManager.default.fileExists(
                    atPath: bench.directory + "/run/adapter/adapter_model.safetensors"))
        }
    }
}
