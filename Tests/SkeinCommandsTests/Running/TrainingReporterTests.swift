import SkeinCoordination
import SkeinTraining
import Testing

@testable import SkeinCommands

@Suite("what is reported of a run")
struct TrainingReporterTests {
    @Test("the warning about rows that were not recorded names the begin token, if there is one")
    func rowsNotRecorded() {
        let plain = TrainingReporter.rowsNotRecorded("run/run.json", beginToken: nil)
        #expect(plain.contains("did not record its rows") && plain.hasSuffix("(run/run.json)"))
        let begun = TrainingReporter.rowsNotRecorded("run/run.json", beginToken: "<s>")
        #expect(begun.hasPrefix(plain))
        #expect(begun.contains("rows of text") && begun.contains("now begin with <s>"))
        #expect(begun.contains("start a new run with another --output"))
    }

    @Test("a run in one process fills the snapshot that a cluster's status shows")
    func ownRun() throws {
        let start = ContinuousClock.now
        var own = OwnRun(stepCount: 9)
        #expect(own.snapshot(now: start).phase == "starting")
        own.resumed(after: 3)
        own.began(now: start)
        let first = own.snapshot(now: start + .seconds(2))
        #expect(first.waiting == Waiting(round: .step(4), reason: .computingHere, seconds: 2))
        #expect(first.run.step == 3 && first.run.stepCount == 9 && first.run.loss == nil)
        let metrics = StepMetrics(
            step: 4, epoch: 1, loss: 2.5, tokens: 7, lossTokens: 5, learningRate: 0.1,
            gradientNorm: 1, seconds: 2, tokensPerSecond: 3.5, workers: 0)
        own.committed(metrics, now: start + .seconds(3))
        let second = own.snapshot(now: start + .seconds(4))
        #expect(second.run.loss == 2.5 && second.waiting.seconds == 1)
        #expect(second.waiting.round == .step(5))
        own.ended(in: "run", now: start + .seconds(5))
        let last = own.snapshot(now: start + .seconds(6))
        #expect(last.phase == "finished" && last.run.output == "run")
        #expect(try RunSnapshot(json: last.json()) == last)
    }
}
