/// Remembers the best validation and says when to stop (`--early-stop-patience`).
package struct EarlyStopping: Sendable, Equatable {
    /// Validations without improvement after which the run ends; nil never ends it.
    package let patience: Int?
    /// By which number the best validation is found.
    package let metric: BestMetric
    /// The loss of the best validation so far.
    package private(set) var bestLoss: Double?
    /// Its accuracy; nil if the metric is the loss.
    package private(set) var bestAccuracy: Double?
    /// The step at which it was measured; 0 before the first validation.
    package private(set) var bestStep: Int
    /// Validations since then.
    package private(set) var validationsSinceBest: Int

    package init(
        patience: Int?, metric: BestMetric = .loss, bestLoss: Double? = nil,
        bestAccuracy: Double? = nil, bestStep: Int = 0, validationsSinceBest: Int = 0
    ) {
        self.patience = patience
        self.metric = metric
        self.bestLoss = bestLoss
        self.bestAccuracy = metric == .loss ? nil : bestAccuracy
        self.bestStep = bestStep
        self.validationsSinceBest = validationsSinceBest
    }

    /// Records a validation; one whose loss is not finite is never an improvement.
    ///
    /// - Returns: whether it is better than all before it.
    package mutating func record(loss: Double, accuracy: Double? = nil, step: Int) -> Bool {
        let best = metric.score(loss: bestLoss, accuracy: bestAccuracy)
        if let score = metric.score(loss: loss, accuracy: accuracy),
            best.map({ score > $0 }) ?? true
        {
            bestLoss = loss
            bestAccuracy = metric == .loss ? nil : accuracy
            bestStep = step
            validationsSinceBest = 0
            return true
        }
        validationsSinceBest += 1
        return false
    }

    /// The step whose adapter the run keeps; nil before the first validation.
    var keptStep: Int? { bestLoss == nil ? nil : bestStep }

    /// Whether `patience` validations in a row brought no improvement.
    package var shouldStop: Bool {
        patience.map { validationsSinceBest >= $0 } ?? false
    }
}
