import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct ScheduleTests {
    private struct Golden: Decodable {
        struct Run: Decodable {
            var schedule: String
            var warmup, steps, cycles: Int
            var floor, power: Double
            var rates: [Double]
        }

        var peak: Double
        var runs: [Run]
    }

    @Test("every schedule has the rates of transformers to one part in 10^12 of the peak")
    func golden() throws {
        let bytes = try Data(
            contentsOf: URL(fileURLWithPath: TestPaths.fixture("training/schedules.json")))
        let golden = try JSONDecoder().decode(Golden.self, from: bytes)
        #expect(golden.runs.count == 33)
        for run in golden.runs {
            let schedule = Schedule(
                kind: try #require(Schedule.Kind(rawValue: run.schedule)), peak: golden.peak,
                warmupSteps: run.warmup, stepCount: run.steps, floor: run.floor,
                cycles: run.cycles, power: run.power)
            for (index, expected) in run.rates.enumerated() {
                let found = schedule.rate(ofStep: index + 1)
                #expect(
                    abs(found - expected) <= 1e-12 * golden.peak,
                    "\(run.schedule), step \(index + 1) of \(run.steps)")
            }
        }
    }

    @Test("a floor is where every decaying schedule ends, and nothing goes below it")
    func floors() {
        for kind in Schedule.Kind.allCases where kind != .constant {
            let schedule = Schedule(
                kind: kind, peak: 1, warmupSteps: 0, stepCount: 10, floor: 0.25, cycles: 3,
                power: 2)
            #expect(schedule.rate(ofStep: 1) == 1)
            #expect(schedule.rate(ofStep: 11) == 0.25)
            for step in 1...20 { #expect(schedule.rate(ofStep: step) >= 0.25) }
        }
    }

    @Test("a warm-up ratio is a share of the scheduled steps, rounded up")
    func ratio() throws {
        var configuration = TrainingConfiguration.fixed
        configuration.schedule = .linear
        configuration.warmupRatio = 0.1
        try configuration.checkRecipe()
        for (steps, warmup) in [(10, 1), (11, 2), (1, 1), (1000, 100)] {
            #expect(configuration.learningRates(stepCount: steps).warmupSteps == warmup)
        }
        configuration.warmupRatio = 0
        #expect(configuration.learningRates(stepCount: 10).warmupSteps == 0)
    }

    @Test("options of schedules that need or exclude each other are refused, with both names")
    func combinations() {
        func problem(_ change: (inout TrainingConfiguration) -> Void) -> TrainingError? {
            var configuration = TrainingConfiguration.fixed
            change(&configuration)
            do throws(TrainingError) {
                try configuration.checkRecipe()
                return nil
            } catch {
                return error
            }
        }
        #expect(problem { _ in } == nil)
        #expect(
            problem { ($0.warmupRatio, $0.warmupSteps) = (0.1, 3) }
                == .badCombination(flag: "warmup-ratio", problem: .excludes("warmup-steps")))
        #expect(
            problem { ($0.restarts, $0.schedule) = (2, .cosine) }
                == .badCombination(
                    flag: "restarts", problem: .needs("schedule cosine-with-restarts")))
        #expect(
            problem { $0.power = 2 }
                == .badCombination(flag: "power", problem: .needs("schedule polynomial")))
        #expect(
            problem { $0.minLearningRate = 1e-5 }
                == .badCombination(
                    flag: "min-learning-rate", problem: .excludes("schedule constant")))
        #expect(
            problem { ($0.minLearningRate, $0.schedule) = (1e-4, .cosine) }
                == .badOption(
                    flag: "min-learning-rate", value: "0.0001",
                    allowed: "a number below --learning-rate, which is 0.0001"))
        #expect(problem { ($0.minLearningRate, $0.schedule) = (1e-5, .polynomial) } == nil)
        #expect(problem { ($0.restarts, $0.schedule) = (2, .cosineWithRestarts) } == nil)
    }
}
