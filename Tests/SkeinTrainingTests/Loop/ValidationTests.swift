import Foundation
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite("validations")
struct ValidationTests {
    @Test("an epoch's last step, the run's and every N-th are counted once each")
    func plan() {
        for stepCount in [0, 1, 7, 24, 30] {
            for stepsPerEpoch in [1, 4, 6, 9, 40] {
                for interval in [nil, 1, 2, 3, 4, 9, 24, 50] as [Int?] {
                    let plan = ValidationPlan(
                        stepCount: stepCount, stepsPerEpoch: stepsPerEpoch, interval: interval)
                    var count = 0
                    #expect(!plan.isDue(after: 0) && plan.count(through: 0) == 0)
                    for step in stride(from: 1, through: stepCount, by: 1) {
                        let isEnd = step % stepsPerEpoch == 0 || step == stepCount
                        let isDue = isEnd || interval.map { step % $0 == 0 } ?? false
                        #expect(plan.endsEpoch(step) == isEnd && plan.isDue(after: step) == isDue)
                        count += isDue ? 1 : 0
                        #expect(plan.count(through: step) == count, "\(plan) \(step)")
                    }
                    #expect(plan.count == count)
                }
            }
        }
        let long = ValidationPlan(
            stepCount: Limits.steps, stepsPerEpoch: Limits.steps - 1, interval: Limits.steps)
        #expect(long.count == 2)
    }

    @Test("by accuracy the highest wins, whatever its loss; an equal one later does not")
    func accuracy() {
        var stopping = EarlyStopping(patience: 2, metric: .accuracy)
        let validations: [(loss: Double, accuracy: Double?)] = [
            (2, 0.25), (3, 0.5), (1, 0.5), (.nan, 1), (4, 0.75), (1, nil), (0.5, 0.7),
        ]
        var best: [Bool] = []
        var stops: [Bool] = []
        for (index, one) in validations.enumerated() {
            best.append(
                stopping.record(loss: one.loss, accuracy: one.accuracy, step: index + 1))
            stops.append(stopping.shouldStop)
        }
        #expect(best == [true, true, false, false, true, false, false])
        #expect(stops == [false, false, false, true, false, false, true])
        #expect(stopping.bestLoss == 4 && stopping.bestAccuracy == 0.75 && stopping.bestStep == 5)
        var byLoss = EarlyStopping(patience: nil)
        let found = [(2, 0.1), (2.5, 0.9)].enumerated().map { index, one in
            byLoss.record(loss: one.0, accuracy: one.1, step: index + 1)
        }
        #expect(found == [true, false] && byLoss.bestAccuracy == nil)
    }

    @Test("who reads metrics finds the same best one, and never that before the first step")
    func readers() {
        func line(_ step: Int, _ loss: Double?, _ accuracy: Double?) -> ValidationMetrics {
            ValidationMetrics(
                step: step, epoch: 1, loss: loss, tokens: 4, tokenAccuracy: accuracy,
                namesAccuracy: true)
        }
        let lines = [
            line(0, 0.125, 1), line(2, nil, nil), line(4, 2, 0.25), line(6, 1, 0.5),
            line(8, 0.5, 0.5), line(10, 0.5, 0.25),
        ]
        for (metric, expected) in [(BestMetric.loss, 8), (.accuracy, 6)] {
            var best: ValidationMetrics?
            for line in lines where line.isBetter(than: best, by: metric) { best = line }
            #expect(best?.step == expected)
        }
    }

    @Test("a line names the accuracy only in a run that goes by it, and reads back")
    func line() throws {
        let plain = ValidationMetrics(step: 3, epoch: 1, loss: 2.5, tokens: 5, tokenAccuracy: 0.5)
        #expect(
            plain.line.written
                == #"{"step":3,"epoch":1,"validation_loss":2.5,"validation_tokens":5}"#)
        let third = 1 / 3.0
        for accuracy in [third, nil] {
            let named = ValidationMetrics(
                step: 3, epoch: 1, loss: accuracy, tokens: 5, tokenAccuracy: accuracy,
                namesAccuracy: true)
            let bytes = Array(named.line.written.utf8)
            let read = try bytes.withUnsafeBytes { try Metrics.record($0, path: "x", line: 1) }
            #expect(read == .validation(named))
        }
    }

    @Test("a checkpoint names the best accuracy only in a run that goes by it, and reads back")
    func state() throws {
        var state = TrainingState(
            step: 6, epoch: 2, bestValidationLoss: 0.1, bestStep: 4, validationsSinceBest: 1,
            configurationDigest: "d")
        let plain = state.text
        #expect(
            plain == """
                {
                  "step": 6,
                  "epoch": 2,
                  "best_validation_loss": 0.1,
                  "best_step": 4,
                  "validations_since_best": 1,
                  "configuration_sha256": "d"
                }

                """)
        state.bestValidationAccuracy = 1 / 3
        #expect(state.text.contains("\"best_validation_accuracy\": 0.3333333333333333"))
        for text in [plain, state.text] {
            let read = try RecordFile.decode(TrainingState.self, from: text.utf8, path: "x")
            #expect(read.text == text)
        }
    }

    @Test("by accuracy, or else by loss; what is not finite is never better")
    func judgements() {
        func found(
            _ start: (Double?, Double?), _ kept: (Double?, Double?)
        ) -> (isBetter: Bool, sentence: String) {
            let one = Improvement(
                beginning: .initialAdapter,
                start: Improvement.Score(loss: start.0, accuracy: start.1),
                kept: Improvement.Score(loss: kept.0, accuracy: kept.1), step: 4)
            return (one.isBetter, one.sentence)
        }
        #expect(found((2, nil), (1, nil)).isBetter)
        #expect(!found((2, nil), (2, nil)).isBetter && !found((2, nil), (3, nil)).isBetter)
        #expect(found((2, 0.5), (3, 0.75)).isBetter && !found((2, 0.5), (1, 0.25)).isBetter)
        // DPO's accuracy is not known before the first step.
        #expect(found((2, nil), (1, 0.25)).isBetter)
        #expect(
            found((.nan, nil), (9, nil)).isBetter && !found((2, nil), (.infinity, nil)).isBetter)
        #expect(
            found((2, 0.5), (2, 0.5)).sentence
                == "the adapter is as good as the adapter that the run started from on the validation "
                + "rows: loss 2.0000, accuracy 0.5000 after step 4, loss 2.0000, accuracy 0.5000 before "
                + "the first step")
    }
}
