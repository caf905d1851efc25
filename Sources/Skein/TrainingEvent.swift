import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTraining

/// An event of a run, in the order in which the run tells them.
///
/// `Trainer.events` and `Coordinator.events` give them. The run does not wait for a slow reader,
/// who misses the oldest ones.
public enum TrainingEvent: Sendable, Equatable {
    /// Model, data and recipe are read and checked.
    case prepared(Plan)
    /// A coordinator listens for workers at this `HOST:PORT`.
    case listening(address: String)
    /// The run continues after this step; 0 if it had no valid checkpoint.
    case resumed(step: Int)
    /// A step is done.
    case step(Step)
    /// `loss` is the mean over the loss tokens of the validation rows; nil if there are none. The
    /// validation of step 0 comes before the first step.
    case validation(step: Int, loss: Double?, isBest: Bool)
    /// The answer to one of the prompts that are answered after each validation; nil if the model's
    /// logits were not finite.
    case sample(step: Int, prompt: String, answer: String?)
    /// A checkpoint is on disk; the run can resume after this step.
    case checkpoint(step: Int, path: String)
    /// Validations stopped improving; the adapter of step `best` is kept.
    case stoppedEarly(step: Int, best: Int)
    /// Something that a person should know; the run continues.
    case warning(String)

    /// The size of a run, known before its first step.
    public struct Plan: Sendable, Equatable {
        public let trainingRows: Int
        public let validationRows: Int
        public let steps: Int
        /// Number of trained parameters.
        public let trainedParameters: Int
    }

    /// The figures of a step, as a line of metrics.jsonl has them.
    public struct Step: Sendable, Equatable {
        /// Counted from 1.
        public let step: Int
        /// Steps of the run.
        public let stepCount: Int
        /// Counted from 1.
        public let epoch: Int
        /// Mean loss of the step's loss tokens, before its update.
        public let loss: Double
        public let learningRate: Double
        /// Norm of the mean gradient, before clipping.
        public let gradientNorm: Double
        /// All tokens of the step's rows.
        public let tokens: Int
        public let tokensPerSecond: Double
        /// Workers in the run at the end of the step; 1 for a run in one process.
        public let workers: Int
    }
}

extension TrainingEvent.Plan {
    init(_ job: TrainingJob) {
        trainingRows = job.plan.rowsPerEpoch
        validationRows = job.validation.count
        steps = job.plan.stepCount
        trainedParameters = job.shape.layout.count
    }
}

extension Feed<TrainingEvent> {
    /// Sends what is known about a run before its first step.
    func prepared(_ job: TrainingJob) {
        send(.prepared(.init(job)))
        for warning in job.warnings { send(.warning(warning)) }
    }
}

extension TrainingJob {
    /// What a person should know before the first step.
    var warnings: [String] {
        report.warnings.map(\.text) + tokenOrigin.warnings.map(\.text)
            + [contextWarning].compactMap { $0 } + adapterWarnings + model.notes
    }
}

extension TrainingEvent {
    /// The library's events for one of the training loop's.
    static func events(of event: TrainingLoop.Event) -> [TrainingEvent] {
        func text(_ error: TrainingError) -> String { error.explanation.located }
        switch event {
        case .rowsNotRecorded(let path, let beginToken):
            let texts = beginToken.map { "; texts now begin with \($0), which it left out" } ?? ""
            return [
                .warning(
                    "the version of Skein that began this run did not record its rows and plan, so "
                        + "it cannot be checked that they are the same now (\(path))\(texts)")
            ]
        case .otherEngines(let step, _):
            return [.warning(RunFile.otherEngines(from: step))]
        case .resumed(let step, let rejected):
            return rejected.map { .warning(text($0)) } + [.resumed(step: step)]
        case .ledgerDoubted(let error): return [.warning(text(error))]
        case .adapterRestored(let step):
            return [
                .warning("the adapter was missing; restored from the checkpoint of step \(step)")
            ]
        case .step(let metrics, let stepCount):
            return [
                .step(
                    Step(
                        step: metrics.step, stepCount: stepCount, epoch: metrics.epoch,
                        loss: metrics.loss, learningRate: metrics.learningRate,
                        gradientNorm: metrics.gradientNorm, tokens: metrics.tokens,
                        tokensPerSecond: metrics.tokensPerSecond, workers: metrics.workers))
            ]
        case .validation(let metrics, let isBest):
            return [.validation(step: metrics.step, loss: metrics.loss, isBest: isBest)]
        case .sample(let sample):
            return [.sample(step: sample.step, prompt: sample.prompt, answer: sample.text)]
        case .checkpoint(let step, let path): return [.checkpoint(step: step, path: path)]
        case .stoppedEarly(let step, let best): return [.stoppedEarly(step: step, best: best)]
        case .noticed(let finding): return [.warning(finding.text)]
        }
    }
}
