import SkeinBasics
import SkeinModels
import SkeinTensors

/// How the adapter that a run keeps does beside what the run began with, on the validation rows.
///
/// Nothing is decided by it: which adapter is kept follows from the validations after steps alone.
package struct Improvement: Sendable, Equatable {
    /// What a run begins with.
    package enum Beginning: Sendable, Equatable {
        case baseModel
        /// `--init-adapter`.
        case initialAdapter
    }

    /// What a validation found.
    package struct Score: Sendable, Equatable {
        /// nil: it was not finite, or there was no validation.
        package var loss: Double?
        /// nil: it does not count.
        package var accuracy: Double?

        package init(loss: Double?, accuracy: Double? = nil) {
            self.loss = loss.flatMap { $0.isFinite ? $0 : nil }
            self.accuracy = accuracy
        }

        /// Takes from a validation what a run with this metric goes by.
        package init(_ metrics: ValidationMetrics, by metric: BestMetric) {
            self.init(
                loss: metrics.loss, accuracy: metric == .loss ? nil : metrics.tokenAccuracy)
        }
    }

    package let beginning: Beginning
    /// Before the first step.
    package let start: Score
    /// After `step`, whose adapter is kept.
    package let kept: Score
    package let step: Int

    package init(beginning: Beginning, start: Score, kept: Score, step: Int) {
        self.beginning = beginning
        self.start = start
        self.kept = kept
        self.step = step
    }

    /// Whether the kept adapter is better than the beginning: by accuracy where both are known, as in a
    /// run that goes by it, else by the loss. What is not finite is never better.
    package var isBetter: Bool { isBetter(orEqual: false) }

    private func isBetter(orEqual: Bool) -> Bool {
        guard let loss = kept.loss else { return false }
        guard let first = start.loss else { return true }
        if let own = kept.accuracy, let other = start.accuracy {
            return own > other || orEqual && own == other
        }
        return loss < first || orEqual && loss == first
    }

    /// Both numbers and what follows from them, for people.
    package var sentence: String {
        let found =
            if isBetter { "better than" } else if isBetter(orEqual: true) { "as good as" } else {
                "worse than"
            }
        let other =
            beginning == .baseModel ? "the base model" : "the adapter that the run started from"
        return "the adapter is \(found) \(other) on the validation rows: "
            + "\(Self.text(kept)) after step \(step), \(Self.text(start)) before the first step"
    }

    private static func text(_ score: Score) -> String {
        func decimals(_ number: Double?) -> String {
            number.map { Figures.fixed($0, 4) } ?? "not finite"
        }
        return "loss \(decimals(score.loss))"
            + (score.accuracy.map { ", accuracy \(decimals($0))" } ?? "")
    }
}

extension TrainingJob {
    /// What the run begins with.
    package var beginning: Improvement.Beginning {
        runFile.initAdapterDigest == nil ? .baseModel : .initialAdapter
    }

    /// The validation before the first step, where it needs no computation: DPO's loss of a model that
    /// is its own reference is ln 2 for every pair.
    package var knownStart: Improvement.Score? {
        // The accuracy is not known: neither answer of a pair is ahead.
        guard let loss = configuration.preferenceLoss, loss.kind == .dpo, !validation.isEmpty,
            configuration.bestMetric != .accuracy,
            configuration.initAdapter == nil || configuration.reference == .initial
        else { return nil }
        let answer = PreferenceLoss.Answer(logProbability: 0, tokens: 1)
        return Improvement.Score(
            loss: loss(chosen: answer, rejected: answer, tokenShare: 0).loss)
    }

    /// Whether there is a validation before the first step.
    package var validatesAtStart: Bool {
        switch configuration.validateAtStart {
        case true?: wantsValidation
        case false?: false
        case nil: !validation.isEmpty && knownStart == nil
        }
    }
}
