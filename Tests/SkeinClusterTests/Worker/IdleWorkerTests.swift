import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCluster
@testable import SkeinNetwork

/// Workers on threads of this process, whose memory the test can inspect.
@Suite("workers without work", .ownThreads)
struct IdleWorkerTests {
    private final class Worker {
        private let loop: EventLoop
        private let shell: Confined<WorkerShell>

        init(_ coordinator: String, model: String, name: String) throws {
            let options = WorkerOptions(
                coordinator: coordinator, token: nil, modelPath: model, threads: 1, name: name)
            let setup = try WorkerSetup(options, version: "test")
            let loop = try EventLoop(name: name)
            self.loop = loop
            shell = try Confined(to: loop) {
                WorkerShell(loop: loop, setup: setup, log: Log(), ending: Promise())
            }
            shell.post { [shell] state in
                state.desk = shell
                state.begin()
            }
        }

        /// Bytes of parameters that it holds, and the most that a snapshot takes.
        func held() throws -> (bytes: Int, whole: Int)? {
            try shell.call { shell in
                shell.engine.map { ($0.parameters.heldBytes, $0.mostParameterBytes) }
            }
        }

        func end() throws {
            try shell.call { $0.end() }
            loop.stop()
        }
    }

    @Test("over many short steps no worker holds more than three snapshots' bytes")
    func memory() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            var configuration = TrainingConfiguration.fixed
            configuration.maxLength = 64
            configuration.epochs = 8
            configuration.batchSize = 1
            configuration.validationSplit = 0
            configuration.minWorkers = 4
            let job = try TrainingJob(
                configuration: configuration, modelPath: directory + "/tiny.gguf",
                dataPath: directory + "/rows.jsonl", version: "test")
            let node = try CoordinatorRun(
                job: job, directory: RunDirectory(path: directory + "/run", resuming: false),
                options: CoordinatorOptions(listen: "127.0.0.1:0", token: nil),
                log: Log(), samples: .silent)
            let workers = try (0..<4).map {
                try Worker(node.address, model: directory + "/tiny.gguf", name: "w\($0)")
            }
            var steps = 0
            let outcome = try node.run(
                report: { event in
                    guard case .step = event else { return }
                    steps += 1
                    for worker in workers {
                        let held = try #require(try worker.held())
                        #expect(held.bytes <= 3 * held.whole, "step \(steps)")
                    }
                }, shouldStop: { false }
            ).outcome
            #expect(outcome.isComplete && steps == 160)
            for worker in workers { try worker.end() }
            // Each did some of the work, though one could have done all of it.
            let ledger = try String(
                contentsOfFile: directory + "/run/ledger.jsonl", encoding: .utf8)
            for name in ["w0", "w1", "w2", "w3"] { #expect(ledger.contains("\"\(name)\"")) }
        }
    }
}
