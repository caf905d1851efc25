import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinTraining

@Suite struct LocalPlanTests {
    private func plan(
        rows: Int, steps: Int, workers: Int, batch: Int, epochs: Int = 3
    ) -> StepPlan {
        StepPlan(
            lengths: (0..<rows).map { 5 + $0 % 7 }, batchSize: batch, microBatchTokens: 16,
            local: LocalShape(steps: steps, workers: workers), seed: 3, shuffles: true,
            epochs: epochs, iterations: nil)
    }

    @Test(
        "an epoch trains each row once, in steps of the batch size, whatever is left for its last round",
        arguments: [1, 2, 5, 11, 12, 13, 23, 24, 25, 47, 100])
    func everyRowOnce(rows: Int) {
        for (steps, workers, batch) in [(3, 2, 2), (1, 3, 1), (4, 1, 3), (2, 5, 1)] {
            let plan = plan(rows: rows, steps: steps, workers: workers, batch: batch)
            var seen: [Int: [Int]] = [:]
            var done = [Int](repeating: 0, count: workers)
            for planned in plan.steps() {
                #expect(planned.microBatches.count <= min(workers, plan.mostMicroBatches))
                for worker in 0..<workers {
                    #expect(
                        plan.localStepsDone(by: worker, beforeRound: planned.step) == done[worker])
                    guard planned.microBatches.indices.contains(worker) else { continue }
                    let own = plan.localSteps(of: planned.microBatches[worker])
                    #expect((1...steps).contains(own.count))
                    #expect(own.dropLast().allSatisfy { $0.joined().count == batch })
                    #expect(own.allSatisfy { (1...batch).contains($0.joined().count) })
                    done[worker] += own.count
                    seen[planned.epoch, default: []] += own.joined().joined()
                }
            }
            for epoch in 1...3 {
                #expect(seen[epoch]?.sorted() == Array(0..<rows), "epoch \(epoch)")
            }
        }
    }

    @Test("where each epoch draws a part of the rows, workers' steps are counted by what it draws")
    func drawn() {
        let draw = EpochDraw(pieces: [.init(rows: 0..<100, drawn: (13, 0))])
        let plan = StepPlan(
            lengths: [Int](repeating: 5, count: 100), batchSize: 2, microBatchTokens: 16,
            local: LocalShape(steps: 3, workers: 2), draw: draw, seed: 3, shuffles: true, epochs: 3,
            iterations: nil)
        #expect(plan.stepsPerEpoch == 2 && plan.workersInShortRound == 1)
        var done = [0, 0]
        for planned in plan.steps() {
            for worker in 0..<2 {
                #expect(plan.localStepsDone(by: worker, beforeRound: planned.step) == done[worker])
                guard planned.microBatches.indices.contains(worker) else { continue }
                done[worker] += plan.localSteps(of: planned.microBatches[worker]).count
            }
        }
        #expect(done == [12, 9])
    }

    @Test("a plan with local steps has a digest of its own")
    func digests() {
        let plans = [(3, 2), (2, 3), (6, 1)].map {
            plan(rows: 30, steps: $0, workers: $1, batch: 2)
        }
        #expect(Set(plans.map { $0.digest().description }).count == 3)
    }

    @Test("options that need or exclude each other are refused, with both names")
    func combinations() throws {
        func problem(_ change: (inout TrainingConfiguration) -> Void) -> TrainingError? {
            var configuration = TrainingConfiguration.fixed
            change(&configuration)
            do throws(TrainingError) {
                _ = try LocalSettings(configuration)
                return nil
            } catch {
                return error
            }
        }
        func local(_ change: (inout TrainingConfiguration) -> Void) -> TrainingError? {
            problem {
                ($0.localSteps, $0.logicalWorkers) = (4, 2)
                change(&$0)
            }
        }
        #expect(problem { _ in } == nil && local { _ in } == nil)
        for (flag, change): (String, (inout TrainingConfiguration) -> Void) in [
            ("logical-workers", { $0.logicalWorkers = 2 }),
            ("delta-codec", { $0.deltaCodec = .int8 }),
            ("topk-density", { $0.topkDensity = 0.5 }),
            ("outer-learning-rate", { $0.outerLearningRate = 1 }),
            ("outer-momentum", { $0.outerMomentum = 0 }),
            ("save-state-every", { $0.saveStateEvery = 2 }),
        ] {
            #expect(
                problem(change) == .badCombination(flag: flag, problem: .needs("local-steps")))
        }
        #expect(
            problem { $0.localSteps = 4 }
                == .badCombination(flag: "local-steps", problem: .needs("logical-workers")))
        #expect(
            local { $0.topkDensity = 0.5 }
                == .badCombination(flag: "topk-density", problem: .needs("delta-codec topk")))
        #expect(
            local { $0.gradientCodec = .bf16 }
                == .badCombination(flag: "gradient-codec", problem: .excludes("local-steps")))
        #expect(
            local { $0.slots = 2 }
                == .badCombination(flag: "slots", problem: .excludes("local-steps")))
        #expect(local { ($0.deltaCodec, $0.topkDensity) = (.topk, 0.5) } == nil)
    }
}
