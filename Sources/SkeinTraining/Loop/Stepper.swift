import SkeinModels

/// Turns the mean gradient of a step into the next parameters, and holds what a checkpoint saves besides
/// them.
///
/// `AdamWStepper`, or in a run with local steps `LocalStepper`. This half of a step is always computed in
/// the process of the loop. Steppers are classes, so that long vectors change in place.
protocol Stepper: AnyObject {
    /// The flat vector of LoRA matrices after the last step.
    var parameters: [Float] { get }
    /// What the next step starts from, as it is named and sent.
    var published: [Float] { get }
    /// What a run would start from that begins with these parameters.
    func published(of parameters: [Float]) -> [Float]
    /// Steps of the learning rate's schedule in one step.
    var scheduledPerStep: Int { get }

    /// What a step of the plan computes from here.
    func work(of planned: PlannedStep) -> StepWork

    /// What the sum of a step is divided by.
    func divisor(of sum: GradientSum, _ planned: PlannedStep) -> Int

    /// Takes the step.
    ///
    /// - Parameters:
    ///   - mean: gradient; it is changed.
    ///   - norm: the mean's, before this changes it.
    ///   - planned: the step.
    ///   - learningRate: of this step.
    ///   - states: of the logical workers that took part.
    ///   - source: is told what the next round starts from.
    func apply(
        _ mean: inout [Float], norm: Double, _ planned: PlannedStep, learningRate: Double,
        states: [Int: NamedState], source: any StepSource)

    /// Whether a checkpoint follows a step, though it has no validation.
    func isSaveDue(after step: Int) -> Bool

    /// What a checkpoint of the last step, which is `step`, has besides the parameters; nil: some of it
    /// is elsewhere.
    func saved(after step: Int) -> SavedState?

    /// Continues from a checkpoint.
    ///
    /// - Throws: `TrainingError.damagedCheckpoint` when it has not all that the next step needs.
    func takeUp(_ checkpoint: Checkpoint, path: String) throws
}

/// What a checkpoint has besides parameters and progress; `Checkpoint` says what it means.
struct SavedState {
    let averages: [Float]
    let squareAverages: [Float]
    var local: [LocalState]?
}

extension TrainingJob {
    /// What takes the steps of this run, from its beginning.
    func stepper() -> any Stepper {
        if let local { LocalStepper(self, local) } else { AdamWStepper(self) }
    }
}

/// A step is one of AdamW, with the clipped mean of the loss tokens' gradients.
final class AdamWStepper: Stepper {
    private(set) var parameters: [Float]
    private var optimizer: AdamW
    private let otherRate: RateFactor?
    private let job: TrainingJob

    init(_ job: TrainingJob) {
        self.job = job
        parameters = job.initial.values
        otherRate = job.configuration.rateFactor(job.shape.layout)
        optimizer = AdamW(settings: job.configuration.adamW, count: parameters.count)
    }

    var published: [Float] { parameters }

    func published(of parameters: [Float]) -> [Float] { parameters }

    var scheduledPerStep: Int { 1 }

    func work(of planned: PlannedStep) -> StepWork {
        .gradients(
            planned.microBatches(
                of: job.training, groups: job.trainingGroups,
                comparesAnswers: job.comparesAnswers), parameters: parameters)
    }

    func divisor(of sum: GradientSum, _ planned: PlannedStep) -> Int { sum.lossTokens }

    func apply(
        _ mean: inout [Float], norm: Double, _ planned: PlannedStep, learningRate: Double,
        states: [Int: NamedState], source: any StepSource
    ) {
        GradientNorm.clip(&mean, norm: norm, maximum: job.configuration.maxGradNorm)
        optimizer.update(
            &parameters, gradient: mean, learningRate: learningRate, other: otherRate)
    }

    func isSaveDue(after step: Int) -> Bool {
        let interval = job.configuration.checkpointEvery
        return interval > 0 && step % interval == 0
    }

    func saved(after step: Int) -> SavedState? {
        SavedState(averages: optimizer.averages, squareAverages: optimizer.squareAverages)
    }

    func takeUp(_ checkpoint: Checkpoint, path: String) {
        parameters = checkpoint.parameters
        optimizer = AdamW(
            settings: job.configuration.adamW, step: checkpoint.state.step,
            averages: checkpoint.averages, squareAverages: checkpoint.squareAverages)
    }
}
