/// Remembers the best validation loss and says when to stop (`--early-stop-patience`).
public struct EarlyStopping: Sendable, Equatable {
    /// Validations without improvement after which the run ends; nil never ends it.
    public let patience: Int?
    /// The lowest validation loss so far.
    public private(set) var bestLoss: Double?
    /// The step at which it was measured; 0 before the first validation.
    public private(set) var bestStep: Int
    /// Validations since then.
    public private(set) var validationsSinceBest: Int

    public init(
        patience: Int?, bestLoss: Double? = nil, bestStep: Int = 0, validationsSinceBest: Int = 0
    ) {
        self.patience = patience
        self.bestLoss = bestLoss
        self.bestStep = bestStep
        self.validationsSinceBest = validationsSinceBest
    }

    /// Takes one validation loss; a loss that is not finite never is an improvement.
    ///
    /// - Returns: whether it is lower than all before.
    public mutating func record(loss: Double, step: Int) -> Bool {
        if loss.isFinite, bestLoss.map({ loss < $0 }) ?? true {
            bestLoss = loss
            bestStep = step
            validationsSinceBest = 0
            return true
        }
        validationsSinceBest += 1
        return false
    }

    /// Whether `patience` validations in a row brought nothing.
    public var shouldStop: Bool {
        patience.map { validationsSinceBest >= $0 } ?? false
    }
}
