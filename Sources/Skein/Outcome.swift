import SkeinTraining

/// How a run ended: how far it came, and which adapter it kept.
///
/// `run()` and `resume()` of `Trainer` and `Coordinator` return one. A run that was cancelled is
/// not complete and has no adapter yet: a new trainer with the same recipe, model, data and output
/// continues it with `resume()`.
public struct Outcome: Sendable, Equatable {
    /// Number of steps that are done.
    public let step: Int
    /// false: the run was stopped, and `resume()` continues from its checkpoint.
    public let isComplete: Bool
    /// The step whose adapter is kept: the one with the best validation, or the last one.
    public let keptStep: Int
    /// Mean loss of that adapter over the validation rows; nil without such rows. It is the lowest one,
    /// unless `Recipe.bestMetric` says otherwise.
    public let bestValidationLoss: Double?
    /// Mean loss over the validation rows before the first step; nil if it is not known.
    public let startValidationLoss: Double?
    /// Whether the kept adapter is better on the validation rows than what the run began with, by
    /// `Recipe.bestMetric`; nil if that is not known.
    public let isImprovement: Bool?
    /// Mean loss of the kept adapter over the test rows; nil if it was not measured.
    public let testLoss: Double?
    /// The kept adapter; nil if the run is not complete.
    public let adapter: Adapter?

    init(_ ending: RunEnding) throws {
        let outcome = ending.outcome
        step = outcome.step
        isComplete = outcome.isComplete
        keptStep = outcome.keptStep
        bestValidationLoss = outcome.bestValidationLoss
        startValidationLoss = outcome.improvement?.start.loss
        isImprovement = outcome.improvement?.isBetter
        testLoss = ending.test?.loss
        adapter = outcome.isComplete ? try Adapter(at: ending.directory.adapter) : nil
    }
}
