import Foundation
import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinTraining

/// A loop whose source fails as a cluster may.
@Suite struct TrainingLoopTests {
    private struct Gone: Error {}

    /// Computes in this process, and fails at a step, or judges as it is told.
    private struct Source: StepSource {
        let own: InProcessSource
        let recipe: WorkRecipe
        let failingStep: Int
        let interruptsValidation: Bool
        let judge: (@Sendable (Int) -> Double)?
        var workerCount: Int { 3 }

        func advance(to outer: OuterState, by average: [UInt8]) {}

        func compute(_ work: StepWork, deliver: (MicroBatchResult) throws -> Void) throws {
            if case .gradients(let microBatches, _) = work,
                microBatches.first?.step == failingStep
            {
                throw Gone()
            }
            try own.compute(work, deliver: deliver)
        }

        func evaluate(_ request: EvaluationRequest) throws -> RecordedEvaluation {
            if interruptsValidation { throw SourceStopped(reason: .interrupted) }
            guard let judge else { return try own.evaluate(request) }
            var group = MicroBatchResult(
                index: 0,
                sum: GradientSum(
                    tokens: 1, lossTokens: 1, lossSum: judge(request.step), gradient: []),
                digest: SHA256.digest(of: []), worker: "judge", attempt: 1)
            group.inputs = WorkInputs(
                recipe, parameters: GradientCodec.digest(of: request.state),
                lossOf: request.rows, index: 0, afterStep: request.step, tokenShare: 0)
            return RecordedEvaluation(groups: [group], rows: 1, comparesAnswers: false)
        }

        func logProbabilities(
            of groups: [[TokenizedRow]], recorded: [GroupEntry?],
            deliver: (Int, ReferencePiece) throws -> Void
        ) throws {
            try own.logProbabilities(of: groups, recorded: recorded, deliver: deliver)
        }

        func samples(_ parameters: [Float], step: Int, epoch: Int) -> [SampleMetrics] { [] }

        func takeFigures() -> StepFigures? {
            StepFigures(cpuSeconds: 0.25, sentBytes: 1, receivedBytes: 2, payloadBytes: 3)
        }
    }

    private func run(
        _ output: String, resuming: Bool, model: String, data: String, failingStep: Int = 0,
        interruptsValidation: Bool = false, keeping: Int = 3, epochs: Int = 2,
        judge: (@Sendable (Int) -> Double)? = nil, admitting: Bool = false, events: inout [String]
    ) throws -> TrainingLoop.Outcome {
        var configuration = TrainingConfiguration.fixed
        configuration.checkpointEvery = 2
        configuration.epochs = epochs
        configuration.keepCheckpoints = keeping
        configuration.maxLength = 64
        // What ends a validation here ends one after a step.
        configuration.validateAtStart = false
        let job = try TrainingJob(
            configuration: configuration, modelPath: model, dataPath: data, version: "test")
        let engine = try MicroBatchEngine(
            model: job.model, adapter: job.shape, configuration: configuration,
            residence: .resident, positions: job.longestRow, threads: 1)
        var log: [String] = []
        defer { events += log }
        var settings = LoopSettings()
        settings.admitsOtherEngines = admitting
        var loop = try TrainingLoop(
            job: job, directory: RunDirectory(path: output, resuming: resuming),
            source: Source(
                own: InProcessSource(
                    job, engine: engine, threads: DecoderThreads(threadCount: 1)),
                recipe: job.workRecipe, failingStep: failingStep,
                interruptsValidation: interruptsValidation, judge: judge), settings: settings,
            report: { event in
                switch event {
                case .resumed(let step, _): log.append("resumed \(step)")
                case .step(let metrics, _): log.append("step \(metrics.step)")
                case .checkpoint(let step, let path):
                    let isThere = FileManager.default.fileExists(atPath: path + "/manifest.json")
                    log.append("checkpoint \(step) \(isThere)")
                case .rowsNotRecorded(let path, let begin):
                    log.append("not recorded \(path) \(begin ?? "")")
                case .adapterRestored(let step): log.append("restored \(step)")
                case .otherEngines(let step, let isAdmitting):
                    log.append("other engines from \(step) \(isAdmitting)")
                case .ledgerDoubted: log.append("\(event)")
                case .sample(let sample): log.append("sample \(sample.step) \(sample.prompt)")
                case .validation, .stoppedEarly, .noticed: break
                }
            }, shouldStop: { false })
        return try loop.run()
    }

    @Test("a source that fails leaves durable checkpoints; a resumed run ends with the same bytes")
    func failing() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = directory + "/tiny.gguf"
            let data = directory + "/rows.jsonl"
            try TinyModel().writeGGUF(to: model)
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: data)
            var events: [String] = []
            let interrupted = try run(
                directory + "/c", resuming: false, model: model, data: data,
                interruptsValidation: true, events: &events)
            // Step 4 is computed, but its checkpoint comes after its validation.
            #expect(!interrupted.isComplete && interrupted.step == 2)
            #expect(
                events.sorted() == ["checkpoint 2 true", "step 1", "step 2", "step 3", "step 4"])
            events = []
            #expect(throws: Gone.self) {
                _ = try run(
                    directory + "/a", resuming: false, model: model, data: data, failingStep: 7,
                    events: &events)
            }
            // Each checkpoint is reported once, in order, and none is being written any more.
            #expect(
                events.filter { $0.hasPrefix("checkpoint") } == [
                    "checkpoint 2 true", "checkpoint 4 true", "checkpoint 6 true",
                ])
            #expect(
                try CheckpointStore(directory: directory + "/a/checkpoints").steps() == [2, 4, 6])
            let outcome = try run(
                directory + "/a", resuming: true, model: model, data: data, events: &events)
            #expect(events.contains("resumed 6"))
            var other: [String] = []
            let whole = try run(
                directory + "/b", resuming: false, model: model, data: data, events: &other)
            #expect(outcome == whole && whole.isComplete)
            #expect(other.last == "checkpoint \(whole.step) true")
            for file in ["adapter/adapter_model.safetensors", "ledger.jsonl"] {
                #expect(
                    FileManager.default.contents(atPath: "\(directory)/a/\(file)")
                        == FileManager.default.contents(atPath: "\(directory)/b/\(file)"))
            }
            var lines = 0
            try Metrics.read(path: directory + "/a/metrics.jsonl") { record in
                guard case .step(let metrics) = record else { return }
                lines += 1
                #expect(metrics.coordinatorCPUSeconds == 0.25 && metrics.workers == 3)
                #expect(metrics.sentBytes == 1 && metrics.receivedBytes == 2)
                #expect(metrics.payloadBytes == 3)
            }
            #expect(lines == whole.step)
        }
    }

    @Test("a removed adapter is restored from its step's checkpoint, however old that is")
    func removedAdapter() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = directory + "/tiny.gguf"
            let data = directory + "/rows.jsonl"
            try TinyModel().writeGGUF(to: model)
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: data)
            // 16 training rows: four steps an epoch. The second validation is the best.
            let judge = { @Sendable (step: Int) in step == 8 ? 1.0 : 2.0 }
            func train(
                _ name: String, resuming: Bool, failingStep: Int = 0, keeping: Int = 1
            ) throws -> [String] {
                var events: [String] = []
                do {
                    _ = try run(
                        directory + name, resuming: resuming, model: model, data: data,
                        failingStep: failingStep, keeping: keeping, epochs: 6, judge: judge,
                        events: &events)
                } catch is Gone {
                    events.append("gone")
                }
                return events
            }
            func adapter(_ name: String) -> Data? {
                FileManager.default.contents(
                    atPath: directory + name + "/adapter/adapter_model.safetensors")
            }
            let checkpoints = CheckpointStore(directory: directory + "/a/checkpoints")
            _ = try train("/whole", resuming: false)
            let expected = try #require(adapter("/whole"))
            // What a kill before any pruning leaves: everything that was saved.
            #expect(try train("/a", resuming: false, failingStep: 15, keeping: 99).last == "gone")
            #expect(try checkpoints.steps() == [2, 4, 6, 8, 10, 12, 14])
            try FileManager.default.removeItem(atPath: directory + "/a/adapter")
            var events = try train("/a", resuming: true, failingStep: 19)
            #expect(events.contains("restored 8") && events.contains("resumed 14"))
            #expect(try checkpoints.steps() == [8, 18])
            #expect(adapter("/a") == expected)
            events = try train("/a", resuming: true)
            #expect(!events.contains("restored 8") && events.contains("resumed 18"))
            #expect(try checkpoints.steps() == [8, 24])
            try FileManager.default.removeItem(atPath: directory + "/a/adapter")
            events = try train("/a", resuming: true)
            #expect(events == ["restored 8", "resumed 24"])
            #expect(try checkpoints.steps() == [8, 24])
            #expect(adapter("/a") == expected)
        }
    }

    @Test("a resumed run compares its rows with the recorded ones, if they are recorded")
    func recordedRows() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = directory + "/tiny.gguf"
            let data = directory + "/rows.jsonl"
            try TinyModel().writeGGUF(to: model)
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: data)
            let output = directory + "/run"
            let path = output + "/run.json"
            var events: [String] = []
            #expect(throws: Gone.self) {
                _ = try run(
                    output, resuming: false, model: model, data: data, failingStep: 5,
                    events: &events)
            }
            let begun = try RunFile(path: path)
            #expect(begun.rowsDigest?.count == 64 && begun.planDigest?.count == 64)
            for field in [\RunFile.rowsDigest, \.planDigest] {
                var other = begun
                other[keyPath: field] = String(repeating: "0", count: 64)
                try other.write(to: path)
                let error = #expect(throws: TrainingError.self) {
                    _ = try run(output, resuming: true, model: model, data: data, events: &events)
                }
                guard case .resumeDiffers(path, let differences) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(differences.count == 1)
            }
            var older = begun
            (older.rowsDigest, older.planDigest) = (nil, nil)
            try older.write(to: path)
            events = []
            let outcome = try run(
                output, resuming: true, model: model, data: data, events: &events)
            #expect(outcome.isComplete && events.first == "not recorded \(path) ")
            #expect(events.contains("resumed 4"))
        }
    }

    @Test("a run that admitted other engines once says so for ever, from the step on where it did")
    func otherEngines() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = directory + "/tiny.gguf"
            let data = directory + "/rows.jsonl"
            try TinyModel().writeGGUF(to: model)
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: data)
            let output = directory + "/run"
            let path = output + "/run.json"
            func text(_ file: String) throws -> String {
                try String(contentsOfFile: output + "/" + file, encoding: .utf8)
            }
            func run(resuming: Bool, failingStep: Int = 0, admitting: Bool) throws -> [String] {
                var events: [String] = []
                do {
                    _ = try self.run(
                        output, resuming: resuming, model: model, data: data,
                        failingStep: failingStep, epochs: 4, admitting: admitting, events: &events)
                } catch is Gone {
                    events.append("gone")
                }
                return events
            }
            #expect(try run(resuming: false, failingStep: 7, admitting: false).last == "gone")
            let strict = try text("run.json")
            #expect(try text("adapter/README.md").contains("## The same again"))
            let admitted = try run(resuming: true, failingStep: 13, admitting: true)
            #expect(admitted.first == "other engines from 7 true" && admitted[1] == "resumed 6")
            let marked = try text("run.json")
            #expect(
                marked.replacing("  \"other_engines_from_step\": 7,\n", with: "") == strict)
            // Strict again: the record stays, and so does what the card says.
            let rest = try run(resuming: true, admitting: false)
            #expect(rest.first == "other engines from 7 false" && rest.last != "gone")
            #expect(try text("run.json") == marked)
            let file = try RunFile(path: path)
            #expect(file.otherEnginesFrom == 7)
            #expect(marked.contains(file.configuration.digest.description))
            let card = try text("adapter/README.md")
            #expect(card.contains("From step 7 on, workers with other engines were admitted"))
            #expect(!card.contains("The same again"))
            // A complete run computes nothing more: nothing is given up.
            let other = directory + "/strict"
            var events: [String] = []
            _ = try self.run(other, resuming: false, model: model, data: data, events: &events)
            _ = try self.run(
                other, resuming: true, model: model, data: data, admitting: true, events: &events)
            #expect(try RunFile(path: other + "/run.json").otherEnginesFrom == nil)
            #expect(!events.contains { $0.hasPrefix("other engines") })
            // From the beginning.
            let whole = directory + "/whole"
            events = []
            _ = try self.run(
                whole, resuming: false, model: model, data: data, admitting: true,
                events: &events)
            #expect(events.first == "other engines from 1 true")
            #expect(try RunFile(path: whole + "/run.json").otherEnginesFrom == 1)
        }
    }

    @Test("a resumed run of an older version reports the begin token, if the model has one")
    func olderRows() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let files = [
                ("bos/config.json", "config.json"), ("bos/model.safetensors", "model.safetensors"),
                ("bos/tokenizer_config.json", "tokenizer_config.json"),
                ("tokenizers/llama3.json", "tokenizer.json"),
            ]
            let model = directory + "/model"
            try AtomicFile.makeDirectory(model)
            for (fixture, name) in files {
                try FileManager.default.copyItem(
                    atPath: TestPaths.fixture(fixture), toPath: model + "/" + name)
            }
            let data = directory + "/rows.jsonl"
            let rows = (0..<20).map { "{\"text\": \"the keeper climbed \($0) steps\"}\n" }
            try AtomicFile.write(rows.joined(), to: data)
            let output = directory + "/run"
            let path = output + "/run.json"
            var events: [String] = []
            #expect(throws: Gone.self) {
                _ = try run(
                    output, resuming: false, model: model, data: data, failingStep: 5,
                    events: &events)
            }
            var older = try RunFile(path: path)
            (older.rowsDigest, older.planDigest) = (nil, nil)
            try older.write(to: path)
            events = []
            let outcome = try run(output, resuming: true, model: model, data: data, events: &events)
            #expect(outcome.isComplete && events.first == "not recorded \(path) <|begin_of_text|>")
        }
    }

    @Test("a step without figures writes none of their fields")
    func figures() {
        func line(_ figures: StepFigures?) -> String {
            StepMetrics(
                step: 1, epoch: 1, loss: 2, tokens: 3, lossTokens: 2, learningRate: 0.1,
                gradientNorm: 1, seconds: 1, tokensPerSecond: 3, workers: 1, figures: figures
            ).line.written
        }
        #expect(line(nil).hasSuffix(",\"workers\":1}"))
        let figures = StepFigures(
            cpuSeconds: 0.5, sentBytes: 10, receivedBytes: 20, payloadBytes: 15)
        #expect(
            line(figures).hasSuffix(
                ",\"workers\":1,\"coordinator_cpu_seconds\":0.5,\"sent_bytes\":10,"
                    + "\"received_bytes\":20,\"payload_bytes\":15}"))
    }
}
