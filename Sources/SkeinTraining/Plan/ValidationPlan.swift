/// After which steps a run validates, answers its sample prompts and saves a checkpoint: those that
/// end an epoch, the last one, and every `interval`-th (`--validate-every`).
package struct ValidationPlan: Sendable, Equatable {
    let stepCount: Int
    let stepsPerEpoch: Int
    /// nil: there are no others.
    let interval: Int?

    /// - Parameters:
    ///   - stepCount: steps of the run.
    ///   - stepsPerEpoch: at least 1.
    ///   - interval: steps between others, at least 1; nil for none.
    package init(stepCount: Int, stepsPerEpoch: Int, interval: Int?) {
        self.stepCount = stepCount
        self.stepsPerEpoch = stepsPerEpoch
        self.interval = interval
    }

    /// Whether nothing of the step's epoch is left: it is the epoch's last step, or the run's.
    package func endsEpoch(_ step: Int) -> Bool {
        step > 0 && (step % stepsPerEpoch == 0 || step == stepCount)
    }

    /// Whether a step is followed by a validation. What stands before the first step
    /// (`--validate-at-start`) follows none.
    package func isDue(after step: Int) -> Bool {
        step > 0 && (endsEpoch(step) || interval.map { step % $0 == 0 } ?? false)
    }

    /// Whether a step is validated only because the run ends with it.
    func isOfEndAlone(_ step: Int) -> Bool {
        step == stepCount && step % stepsPerEpoch != 0 && interval.map { step % $0 != 0 } ?? true
    }

    /// How many steps up to `step` are followed by a validation.
    package func count(through step: Int) -> Int {
        let last = min(step, stepCount)
        guard last > 0 else { return 0 }
        var count = last / stepsPerEpoch
        if let interval {
            // A step that is a multiple of both counts once. Neither is above 2^31.
            let both = interval / Self.divisor(interval, stepsPerEpoch) * stepsPerEpoch
            count += last / interval - last / both
        }
        let isMultiple =
            stepCount % stepsPerEpoch == 0 || interval.map { stepCount % $0 == 0 } ?? false
        return last == stepCount && !isMultiple ? count + 1 : count
    }

    /// Validations of the whole run.
    package var count: Int { count(through: stepCount) }

    /// The greatest common divisor of two numbers above 0.
    private static func divisor(_ first: Int, _ second: Int) -> Int {
        var (high, low) = (first, second)
        while low > 0 { (high, low) = (low, high % low) }
        return high
    }
}

extension TrainingJob {
    /// After which steps the run validates, answers its sample prompts and saves a checkpoint.
    package var validations: ValidationPlan {
        ValidationPlan(
            stepCount: plan.stepCount, stepsPerEpoch: plan.stepsPerEpoch,
            interval: configuration.validateEvery)
    }

    /// Whether validation was asked for, with or without rows for it.
    package var wantsValidation: Bool { !validation.isEmpty || configuration.validationSplit > 0 }
}
