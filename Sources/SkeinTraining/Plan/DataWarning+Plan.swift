import SkeinRows
import SkeinTensors

extension DataWarning {
    /// What there is to say of the plan and of options that depend on it.
    ///
    /// - Parameters:
    ///   - plan: of the run.
    ///   - configuration: of the run.
    /// - Returns: warnings in a fixed order.
    static func ofPlan(_ plan: StepPlan, _ configuration: TrainingConfiguration) -> [DataWarning] {
        var warnings: [DataWarning] = []
        let steps = plan.scheduledSteps
        if steps < 20 {
            warnings.append(
                .fewSteps(count: steps, isGiven: configuration.iterations != nil))
        }
        let warmupSteps = configuration.learningRates(stepCount: steps).warmupSteps
        if warmupSteps >= steps {
            warnings.append(.allWarmup(warmupSteps: warmupSteps, steps: steps))
        }
        if configuration.preferenceLoss?.kind == .dpo, configuration.initAdapter != nil,
            configuration.reference == nil
        {
            warnings.append(.referenceWithoutAdapter)
        }
        if let local = plan.local, plan.stepCount < fewRounds,
            configuration.outerMomentum == nil, configuration.outerLearningRate == nil
        {
            let rate = (10 * Double(local.workers).squareRoot()).rounded() / 10
            warnings.append(.fewRounds(count: plan.stepCount, rate: rate))
        }
        return warnings
    }

    /// A momentum of 0.9 takes about ten rounds to build up. docs/SLOW-LINKS.md has what was measured.
    private static let fewRounds = 50
}
