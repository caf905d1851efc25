import Foundation
import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite("a run put together")
struct RunAssemblyTests {
    private struct Broken: Error {}

    /// Computes in this process, and stops at the test rows, which are evaluated last.
    private struct Source: StepSource {
        let own: InProcessSource
        let testRows: Int
        let atTestRows: @Sendable () throws -> Void
        let reason: SourceStopped.Reason
        var workerCount: Int { 1 }

        func compute(_ work: StepWork, deliver: (MicroBatchResult) throws -> Void) throws {
            try own.compute(work, deliver: deliver)
        }

        func evaluate(_ request: EvaluationRequest) throws -> RecordedEvaluation {
            guard request.rows.count != testRows else {
                try atTestRows()
                throw SourceStopped(reason: reason)
            }
            return try own.evaluate(request)
        }

        func logProbabilities(
            of groups: [[TokenizedRow]], recorded: [GroupEntry?],
            deliver: (Int, ReferencePiece) throws -> Void
        ) throws {
            try own.logProbabilities(of: groups, recorded: recorded, deliver: deliver)
        }

        func samples(_ parameters: [Float], step: Int, epoch: Int) -> [SampleMetrics] { [] }

        func advance(to outer: OuterState, by average: [UInt8]) {}
    }

    /// Runs 12 rows, and 7 test rows at which the source stops.
    ///
    /// - Returns: the ending, and the warnings.
    private func run(
        _ directory: String, stopping reason: SourceStopped.Reason,
        atTestRows: @escaping @Sendable (RunDirectory) throws -> Void = { _ in }
    ) throws -> (RunEnding, warnings: [String]) {
        try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
        for (name, count) in [("rows", 12), ("test", 7)] {
            let rows = (0..<count).map {
                "{\"prompt\": \"\(name) \($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/\(name).jsonl")
        }
        var configuration = TrainingConfiguration.fixed
        configuration.maxLength = 64
        configuration.testData = directory + "/test.jsonl"
        let job = try TrainingJob(
            configuration: configuration, modelPath: directory + "/tiny.gguf",
            dataPath: directory + "/rows.jsonl", version: "test")
        #expect(job.test.count == 7 && job.validation.count != 7)
        let engine = try MicroBatchEngine(
            model: job.model, adapter: job.shape, configuration: configuration,
            residence: .resident, positions: job.longestRow, threads: 1)
        let output = try RunDirectory(path: directory + "/run", resuming: false)
        try output.takeOver()
        let source = Source(
            own: InProcessSource(job, engine: engine, threads: DecoderThreads(threadCount: 1)),
            testRows: 7, atTestRows: { try atTestRows(output) }, reason: reason)
        var warnings: [String] = []
        let ending = try RunAssembly(
            job: job, directory: output, source: source, references: nil
        ).run(
            report: { if case .warning(let warning) = $0 { warnings.append(warning) } },
            shouldStop: { false })
        return (ending, warnings)
    }

    @Test("a run that is asked to stop at its test rows is complete, and says what is missing")
    func stopped() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let (ending, warnings) = try run(directory, stopping: .interrupted)
            #expect(ending.outcome.isComplete && ending.test == nil)
            #expect(
                warnings == [
                    "stopped before the test rows were evaluated; the adapter is complete"
                ])
        }
    }

    @Test("a failure at the test rows ends the run with its own error")
    func failed() throws {
        try TestPaths.withTemporaryDirectory { directory in
            _ = #expect(throws: Broken.self) {
                try run(directory, stopping: .failed(Broken()))
            }
        }
    }

    @Test("what another process has removed is told as its takeover, and what else fails as it is")
    func takenOver() throws {
        for isTakenOver in [false, true] {
            try TestPaths.withTemporaryDirectory { directory in
                let error = try #require(throws: (any Error).self) {
                    try run(directory, stopping: .interrupted) { output in
                        if isTakenOver {
                            // As a network file system that forgets a lock lets it happen.
                            try DiskStore().remove(output.path + "/.lock")
                            try RunDirectory(path: output.path, resuming: true).takeOver()
                        }
                        try FileManager.default.removeItem(atPath: output.adapter)
                        let weights = output.adapter + "/adapter_model.safetensors"
                        _ = try output.store.digest(of: weights) { _ in }
                    }
                }
                switch error {
                case TrainingError.takenOver: #expect(isTakenOver)
                case FileError.failed(_, _, ENOENT): #expect(!isTakenOver)
                default: Issue.record("\(String(describing: error))")
                }
            }
        }
    }
}
