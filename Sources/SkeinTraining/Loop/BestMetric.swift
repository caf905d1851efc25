/// By which number of a validation the best adapter is found (`--best-metric`).
package enum BestMetric: String, Sendable, CaseIterable {
    /// The lowest loss.
    case loss
    /// The highest share of loss tokens that the model would have picked itself; of pairs of answers,
    /// of those whose chosen answer is ahead.
    case accuracy

    /// What a validation is compared by: the higher, the better. nil: it is never the best one.
    ///
    /// - Parameters:
    ///   - loss: mean of the validation; nil, or not finite, makes it worthless by either metric.
    ///   - accuracy: share of its loss tokens.
    /// - Returns: a number whose order is that of the validations.
    package func score(loss: Double?, accuracy: Double?) -> Double? {
        guard let loss, loss.isFinite else { return nil }
        return self == .loss ? -loss : accuracy
    }
}

extension ValidationMetrics {
    /// Whether this validation is better than the best one before it. What was measured before the
    /// first step is for people alone: there is no checkpoint of it.
    ///
    /// - Parameters:
    ///   - best: the best one so far; nil: there is none.
    ///   - metric: of the run.
    /// - Returns: false for equal ones: the earlier one stays the best.
    package func isBetter(than best: ValidationMetrics?, by metric: BestMetric) -> Bool {
        guard step > 0, let own = metric.score(loss: loss, accuracy: tokenAccuracy) else {
            return false
        }
        return best.flatMap { metric.score(loss: $0.loss, accuracy: $0.tokenAccuracy) }
            .map { own > $0 } ?? true
    }
}

extension TrainingConfiguration {
    /// By which number of a validation the run finds its best adapter.
    package var usedBestMetric: BestMetric { self.bestMetric ?? .loss }
}
