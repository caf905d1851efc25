import SkeinTraining

/// How a run ended.
public struct Outcome: Sendable, Equatable {
    /// Steps that are done.
    public let step: Int
    /// false: the run was stopped; its checkpoint holds what `resume()` goes on from.
    public let isComplete: Bool
    /// The step whose adapter is kept: that of the best validation, or the last one.
    public let keptStep: Int
    /// Mean over the loss tokens; nil without validation rows.
    public let bestValidationLoss: Double?
    /// Of the kept adapter, over the test rows; nil without any, and for a run that is not complete.
    public let testLoss: Double?
    /// The kept adapter; nil for a run that is not complete.
    public let adapter: Adapter?

    init(_ ending: RunEnding) throws {
        let outcome = ending.outcome
        step = outcome.step
        isComplete = outcome.isComplete
        keptStep = outcome.keptStep
        bestValidationLoss = outcome.bestValidationLoss
        testLoss = ending.test?.loss
        adapter = outcome.isComplete ? try Adapter(at: ending.directory.adapter) : nil
    }
}
