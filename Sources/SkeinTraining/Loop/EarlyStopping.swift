/// Remembers the best validation loss and says when to stop (`--early-stop-patience`).
package struct EarlyStopping: Sendable, Equatable {
    /// Validations without improvement after which the run ends; nil never ends it.
    package let patience: Int?
    /// The lowest validation loss so far.
    package private(set) var bestLoss: Double?
    /// The step at which it was measured; 0 before the first validation.
    package private(set) var bestStep: Int
    /// Validations since then.
    package private(set) var validationsSinceBest: Int

    package init(
        patience: Int?, bestLoss: Double? = nil, bestStep: Int = 0, validationsSinceBest: Int = 0
    ) {
        self.patience = patience
        self.bestLoss = bestLoss
        self.bestStep = bestStep
        self.validationsSinceBest = validationsSinceBest
    }

    /// Records a validation loss; a loss that is not finite is never an improvement.
    ///
    /// - Returns: whether it is lower than all before it.
    package mutating func record(loss: Double, step: Int) -> Bool {
        if loss.isFinite, bestLoss.map({ loss < $0 }) ?? true {
            bestLoss = loss
            bestStep = step
            validationsSinceBest = 0
            return true
        }
        validationsSinceBest += 1
        return false
    }

    /// Whether `patience` validations in a row brought no improvement.
    package var shouldStop: Bool {
        patience.map { validationsSinceBest >= $0 } ?? false
    }
}
