import Foundation
import SkeinBasics
import SkeinRows
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinTraining

/// Runs that are stopped before their first step.
@Suite struct InterruptedStartTests {
    private func run(
        _ directory: String, _ output: String, resuming: Bool = false, stops: Bool = false
    ) throws -> (outcome: TrainingLoop.Outcome, validations: [Int]) {
        var configuration = TrainingConfiguration.fixed
        configuration.batchSize = 2
        configuration.maxLength = 64
        configuration.iterations = 3
        configuration.threads = 1
        configuration.validationSplit = 0.5
        configuration.microBatchTokens = 64
        configuration.promptFormat = .raw
        configuration.validateAtStart = true
        let request = RunRequest(
            configuration: configuration, model: .path(directory + "/tiny.gguf"),
            data: directory + "/rows.jsonl", output: directory + "/" + output, tokenCache: nil)
        let validations = Mutex([Int]())
        let isReady = Mutex(false)
        let ending = try TrainingRun(request, resuming: resuming, samples: .silent).run(
            report: { event in
                switch event {
                case .ready: isReady.withLock { $0 = true }
                case .loop(.validation(let metrics, _)):
                    validations.withLock { $0.append(metrics.step) }
                default: break
                }
            }, shouldStop: { stops && isReady.withLock { $0 } })
        return (ending.outcome, validations.withLock { $0 })
    }

    @Test("a validation before the first step is not waited for, and no step is taken")
    func validation() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<12).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            let stopped = try run(directory, "run", stops: true)
            #expect(!stopped.outcome.isComplete && stopped.outcome.step == 0)
            #expect(stopped.validations.isEmpty)
            let resumed = try run(directory, "run", resuming: true)
            let straight = try run(directory, "straight")
            #expect(resumed.validations == straight.validations)
            #expect(straight.validations.first == 0)
            for name in ["adapter/adapter_model.safetensors", "ledger.jsonl"] {
                let files = try ["run", "straight"].map {
                    try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\($0)/\(name)"))
                }
                #expect(files[0] == files[1], "\(name)")
            }
        }
    }
}
