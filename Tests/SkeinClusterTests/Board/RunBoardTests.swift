import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinJSON
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCluster

@Suite("what people are shown of a run")
struct RunBoardTests {
    static func step(_ number: Int, loss: Double = 2.5) -> StepMetrics {
        StepMetrics(
            step: number, epoch: 1, loss: loss, tokens: 7, lossTokens: 5, learningRate: 0.1,
            gradientNorm: 1, seconds: 2, tokensPerSecond: 3.5, workers: 1)
    }

    @Test("a run in one process fills the snapshot that a cluster's status shows")
    func ownRun() throws {
        let start = ContinuousClock.now
        var own = OwnRun()
        own.prepared(output: "run", stepCount: 9, epochCount: 2)
        #expect(own.snapshot(now: start).phase == "starting")
        var past = OwnRun.Past(bestMetric: .loss)
        past.add(ValidationMetrics(step: 0, epoch: 0, loss: 1.25, tokens: 3))
        for number in 1...3 { past.add(Self.step(number)) }
        past.add(ValidationMetrics(step: 2, epoch: 1, loss: 1.5, tokens: 3))
        past.add(ValidationMetrics(step: 3, epoch: 1, loss: 1.75, tokens: 3))
        past.microBatches = 6
        own.resumed(after: 3, past)
        own.began(validates: true, now: start)
        let first = own.snapshot(now: start + .seconds(2))
        #expect(first.waiting == Waiting(round: .step(4), reason: .computingHere, seconds: 2))
        #expect(first.run.step == 3 && first.run.stepCount == 9 && first.run.loss == 2.5)
        #expect(first.run.tokens == 21 && first.run.lossTokens == 15)
        #expect(first.run.bestStep == 2 && first.run.validationLoss == 1.75)
        own.committed(
            Self.step(4), microBatches: 2, validates: true, now: start + .seconds(3))
        let second = own.snapshot(now: start + .seconds(4))
        #expect(second.run.microBatches == 8 && second.run.tokens == 28)
        #expect(second.run.elapsedSeconds == 2 && second.run.etaSeconds == 10)
        #expect(second.waiting.round == .validation(afterStep: 4) && second.waiting.seconds == 1)
        own.validated(
            ValidationMetrics(step: 4, epoch: 1, loss: 1.25, tokens: 3), isBest: true,
            now: start + .seconds(5))
        let third = own.snapshot(now: start + .seconds(5))
        #expect(third.run.bestStep == 4 && third.waiting.round == .step(5))
        own.ended(now: start + .seconds(5))
        let last = own.snapshot(now: start + .seconds(6))
        #expect(last.phase == "finished" && last.run.output == "run" && last.run.etaSeconds == nil)
        #expect(try RunSnapshot(json: last.json()) == last)
    }

    @Test("a validation before the first step is not the best one; accuracy may decide")
    func validations() {
        let now = ContinuousClock.now
        var own = OwnRun()
        own.prepared(output: "run", stepCount: 9, epochCount: 2)
        own.began(validates: true, now: now)
        #expect(own.snapshot(now: now).waiting.round == .validation(afterStep: 0))
        #expect(
            RoundLabel.validation(afterStep: 0).description
                == "validation before the first step")
        own.validated(
            ValidationMetrics(step: 0, epoch: 0, loss: 3, tokens: 3), isBest: false, now: now)
        let snapshot = own.snapshot(now: now)
        #expect(snapshot.waiting.round == .step(1))
        #expect(snapshot.run.validationLoss == 3 && snapshot.run.bestStep == nil)
        #expect(snapshot.run.startValidationLoss == 3 && snapshot.run.isImprovement == nil)
        for (step, loss) in [(4, 7.0), (9, 2.0)] {
            own.validated(
                ValidationMetrics(step: step, epoch: 1, loss: loss, tokens: 3), isBest: true,
                now: now)
            #expect(own.snapshot(now: now).run.isImprovement == (loss < 3))
        }
        var past = OwnRun.Past(bestMetric: .accuracy)
        for (step, accuracy) in [(0, 0.9), (2, 0.25), (4, 0.5), (6, 0.5)] {
            past.add(
                ValidationMetrics(
                    step: step, epoch: 1, loss: Double(step) + 1, tokens: 3, tokenAccuracy: accuracy
                ))
        }
        #expect(past.best?.step == 4 && past.best?.loss == 5 && past.validation?.step == 6)
        var resumed = OwnRun()
        resumed.prepared(output: "run", stepCount: 9, epochCount: 2, metric: .accuracy)
        resumed.resumed(after: 6, past)
        #expect(resumed.run.startValidationLoss == 1 && resumed.run.isImprovement == false)
    }

    @Test("a history is complete up to its limit, and keeps every second step beyond it")
    func decimation() {
        var history = RunHistory()
        for number in 1...RunHistory.mostPoints { history.add(Self.step(number)) }
        #expect(history.points.map(\.step) == Array(1...RunHistory.mostPoints))
        for number in (RunHistory.mostPoints + 1)...20_000 {
            history.add(Self.step(number, loss: Double(number)))
        }
        #expect(history.stride == 8 && history.points.count <= RunHistory.mostPoints)
        #expect(history.points.dropFirst().allSatisfy { $0.step % 8 == 0 })
        #expect(history.points.last?.loss == 20_000)
    }

    /// The fields of a history event that matter here.
    private struct News: Decodable {
        struct Steps: Decodable { let step: [Int] }
        struct Validations: Decodable { let step: [Int] }
        struct Sample: Decodable { let prompt: String }
        struct Round: Decodable { let number: Int }
        let whole: Bool
        let steps: Steps
        let validations: Validations
        let samples: [Sample]
        let rounds: [Round]
    }

    @Test("a reader gets everything once, and everything again when the stride changes")
    func deltas() throws {
        var history = RunHistory()
        var mark: HistoryMark?
        func news(_ rounds: [RoundTimelineEntry] = []) throws -> News? {
            guard let line = history.json(after: &mark, timeline: rounds) else { return nil }
            return try JSONDecoder().decode(News.self, from: Data(line.written.utf8))
        }
        func round(_ number: UInt64) -> RoundTimelineEntry {
            RoundTimelineEntry(label: .step(Int(number)), number: number, seconds: 1, pieces: 1)
        }
        let empty = try #require(try news())
        #expect(empty.whole && empty.steps.step.isEmpty)
        #expect(try news() == nil)
        history.add(Self.step(1))
        history.add(Self.step(2))
        history.add(ValidationMetrics(step: 2, epoch: 1, loss: nil, tokens: 0))
        let first = try #require(try news([round(1), round(2)]))
        #expect(!first.whole && first.steps.step == [1, 2] && first.validations.step == [2])
        #expect(first.rounds.map(\.number) == [1, 2])
        history.add(Self.step(3))
        history.add(SampleMetrics(step: 3, epoch: 1, prompt: "p", text: nil, tokens: 0))
        let second = try #require(try news([round(2), round(3)]))
        #expect(second.steps.step == [3] && second.samples.map(\.prompt) == ["p"])
        #expect(second.rounds.map(\.number) == [3])
        #expect(try news([round(3)]) == nil)
        for number in 4...(RunHistory.mostPoints + 1) { history.add(Self.step(number)) }
        let whole = try #require(try news())
        #expect(whole.whole && whole.steps.step.count == history.points.count)
        for _ in 0..<100 {
            history.add(SampleMetrics(step: 9, epoch: 1, prompt: "q", text: "t", tokens: 1))
        }
        #expect(try news()?.samples.count == RunHistory.mostSamples)
        #expect(try news() == nil)
    }

    @Test("a resumed run's board has the steps before it, as far as they can be read")
    func resumed() throws {
        try TestPaths.withTemporaryDirectory { directory in
            do {
                let metrics = try Metrics(
                    path: directory + "/metrics.jsonl", keepingThroughStep: 0)
                for number in 1...5 { try metrics.append(Self.step(number)) }
                try metrics.append(ValidationMetrics(step: 5, epoch: 1, loss: 1, tokens: 3))
            }
            let model = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: model)
            let rows = (0..<40).map { "{\"prompt\": \"\($0)?\", \"completion\": \"\($0)\"}\n" }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            let job = try TrainingJob(
                configuration: TrainingConfiguration.fixed, modelPath: model,
                dataPath: directory + "/rows.jsonl", version: "test")
            let board = RunBoard()
            #expect(board.report == nil)
            board.prepared(job, output: directory)
            try board.note(.resumed(step: 4, rejected: []))
            #expect(board.progress.step == 4 && board.progress.tokens == 28)
            #expect(board.progress.microBatches >= 4 && board.progress.validationLoss == nil)
            try board.note(.step(Self.step(5), stepCount: job.plan.stepCount))
            let view = board.view()
            #expect(view.snapshot.run.step == 5 && view.timeline.map(\.number) == [5])
            var mark: HistoryMark?
            let news = try #require(board.history(after: &mark, timeline: []))
            #expect(news.written.contains("\"step\":[1,2,3,4,5]"))

            let file = directory + "/metrics.jsonl"
            let whole = Self.step(2).line.written
            try AtomicFile.write("{\"step\":1,nonsense\n\(whole)\n", to: file)
            let damaged = RunBoard()
            damaged.prepared(job, output: directory)
            try damaged.note(.resumed(step: 4, rejected: []))
            #expect(damaged.progress.step == 4)
            #expect(damaged.progress.tokens == Self.step(2).tokens)
            #expect(damaged.losses == [Self.step(2).loss])
        }
    }
}
