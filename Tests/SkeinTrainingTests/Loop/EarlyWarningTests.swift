import SkeinBasics
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite("early warnings")
struct EarlyWarningTests {
    private static let measured = EarlyWarning.Comparison(
        rate: 0.002, hasLowRate: false, leavesModulesOut: false)

    private static func step(_ number: Int, _ loss: Double) -> StepMetrics {
        StepMetrics(
            step: number, epoch: 1, loss: loss, tokens: 1, lossTokens: 1, learningRate: 0.1,
            gradientNorm: 1, seconds: 1, tokensPerSecond: 1, workers: 1)
    }

    private static func validation(_ step: Int, _ loss: Double?) -> ValidationMetrics {
        ValidationMetrics(step: step, epoch: 1, loss: loss, tokens: 9)
    }

    /// What is said of losses, one a step.
    private func findings(
        _ losses: [Double], of recipe: EarlyWarning.Comparison = measured, warmup: Int = 10
    ) -> [EarlyWarning.Finding] {
        var warning = EarlyWarning(recipe: recipe, warmupSteps: warmup, comparesAnswers: false)
        return losses.enumerated().compactMap { warning.note(Self.step($0.offset + 1, $0.element)) }
    }

    @Test("a weak recipe whose loss is above half of its beginning is told the measured options")
    func learnsHardly() {
        let slow = (0..<100).map { 4 - 0.04 * Double($0) }
        let found = findings(
            slow,
            of: EarlyWarning.Comparison(rate: 0.002, hasLowRate: true, leavesModulesOut: true))
        #expect(found.map(\.kind) == [.learnsHardly] && found.map(\.step) == [40])
        #expect(
            found.first?.text
                == "the run hardly learns: the training loss was 3.920 in its first 5 steps and is 2.520 "
                + "after 40; give --learning-rate 0.002 and --target-modules all-linear, as measured for "
                + "models of this width (docs/RECIPES.md)")
        let rateAlone = findings(
            slow,
            of: EarlyWarning.Comparison(rate: 0.002, hasLowRate: true, leavesModulesOut: false))
        #expect(rateAlone.first?.text.contains("give --learning-rate 0.002, as") == true)
        // The same losses of the measured recipe are of rows that are harder to learn, such as prose.
        #expect(findings(slow).isEmpty)
        let still = findings(Array(repeating: 4, count: 50))
        #expect(still.map(\.kind) == [.learnsHardly])
        #expect(still.first?.text.contains("raise --learning-rate, or look") == true)
        // What is known already need not be learned.
        #expect(findings(Array(repeating: 0.2, count: 50)).isEmpty)
        #expect(findings(Array(repeating: 4, count: 50), warmup: 30).isEmpty)
    }

    @Test(
        "a loss that rises well above its lowest diverges, at the beginning and later; chance does not"
    )
    func diverges() {
        let early = findings((0..<20).map { 3 + 0.3 * Double($0) })
        #expect(early.map(\.kind) == [.diverges])
        let late = findings((0..<60).map { $0 < 50 ? 0.1 : 2 })
        #expect(late.map(\.kind) == [.diverges] && late.first?.step == 53)
        #expect(late.first?.text.contains("--learning-rate 0.002 is measured") == true)
        #expect(findings((0..<38).map { $0 % 9 == 0 ? 4 : 0.9 }).isEmpty)
    }

    @Test("validations that get worse while the training loss falls are said once")
    func overfits() {
        var warning = EarlyWarning(
            recipe: Self.measured, warmupSteps: 0, comparesAnswers: false)
        var said: [EarlyWarning.Finding] = []
        for (number, loss) in [3, 2.5, 2, 2.1, 2.4, 2.9, 3.5].enumerated() {
            for step in 1...5 {
                let number = 5 * number + step
                #expect(warning.note(Self.step(number, 4 / Double(number))) == nil)
            }
            if let found = warning.note(Self.validation(5 * (number + 1), loss)) {
                said.append(found)
            }
        }
        // The first after the best is within a tenth of it.
        #expect(said.map(\.kind) == [.overfits] && said.map(\.step) == [30])
        #expect(said.first?.text.contains("since step 15 ") == true)
        #expect(said.first?.text.contains("from 2.000 to 2.900") == true)
        #expect(said.first?.text.contains("the adapter of step 15 is kept") == true)
    }

    @Test("a training loss that rises, too, is not learning by heart, nor is a run by its accuracy")
    func noOverfitting() {
        for namesAccuracy in [false, true] {
            var warning = EarlyWarning(
                recipe: Self.measured, warmupSteps: 0, comparesAnswers: false)
            for (number, loss) in [2, 3, 4, 5.0].enumerated() {
                let training = namesAccuracy ? 1 - 0.1 * Double(number) : 1 + 0.1 * Double(number)
                for step in 1...5 { _ = warning.note(Self.step(5 * number + step, training)) }
                var line = Self.validation(5 * (number + 1), loss)
                line.namesAccuracy = namesAccuracy
                #expect(warning.note(line) == nil)
            }
        }
    }

    @Test("a run is compared by its rate, its scale and its modules")
    func comparison() {
        func comparison(
            _ change: (inout TrainingConfiguration) -> Void
        ) -> EarlyWarning.Comparison {
            var configuration = TrainingConfiguration()
            configuration.learningRate = 0.002
            change(&configuration)
            return EarlyWarning.Comparison(configuration, width: 576)
        }
        #expect(comparison { _ in } == Self.measured)
        #expect(comparison { $0.learningRate = 0.0009 }.hasLowRate)
        #expect(!comparison { $0.learningRate = 0.001 }.hasLowRate)
        let small = comparison { $0.alpha = 8 }
        #expect(small.rate == 0.008 && small.hasLowRate)
        // No rate fits such a scale.
        #expect(comparison { $0.alpha = .leastNonzeroMagnitude }.rate == .infinity)
        #expect(!comparison { ($0.learningRate, $0.loraPlusRatio) = (0.0002, 16) }.hasLowRate)
        #expect(comparison { $0.targetModules = [.query, .value] }.leavesModulesOut)
        #expect(
            !comparison { $0.targetModules = [.queryKeyValue, .output, .gateUp, .down] }
                .leavesModulesOut)
        let pairs = comparison { ($0.loss, $0.learningRate) = (.dpo, 5e-5) }
        #expect(!pairs.hasLowRate && pairs.rate == 5e-5)
    }
}
