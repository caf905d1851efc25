/// What to try next, from token accuracies over different rows.
///
/// No single number suffices: rows that were trained on tell whether the adapter can hold the data,
/// held-out rows whether it has learned more than these, rows of another source whether that helps
/// where it is used. The thresholds are rules of thumb.
public struct AccuracyAdvice: Sendable, Equatable, CustomStringConvertible {
    /// What stands out.
    public enum Finding: Sendable, Equatable, CaseIterable {
        /// Even the rows that were trained on are not known.
        case trainingLow
        /// Held-out rows are far below those that were trained on.
        case validationBelowTraining
        /// Held-out rows are somewhat below, and there are few rows.
        case fewRows
        /// Rows of another source are below training and validation.
        case testBelowBoth
    }

    public let finding: Finding
    /// The numbers, and what to do about them.
    public let description: String

    /// Below this share of right tokens, training rows count as not learned.
    static let low = 0.6
    /// A difference of shares that stands out.
    static let gap = 0.1
    /// A difference that may be chance.
    static let chance = 0.03
    /// Fewer training rows than this are few.
    static let fewRows = 500

    /// - Parameters:
    ///   - training: The evaluation of the rows that were trained on.
    ///   - validation: That of held-out rows; nil: none.
    ///   - test: That of rows of another source; nil: none.
    /// - Returns: What stands out, the most fundamental first.
    public static func on(
        training: Evaluation, validation: Evaluation?, test: Evaluation? = nil
    ) -> [AccuracyAdvice] {
        on(training: training, validation: validation, test: test, gotWorse: false)
    }

    /// The same for a run of which it is known whether later steps than the kept one were no better on the
    /// held-out rows (`gotWorse`): to train more would not help then, however little the adapter holds.
    /// Texts are like that.
    package static func on(
        training: Evaluation, validation: Evaluation?, test: Evaluation? = nil, gotWorse: Bool
    ) -> [AccuracyAdvice] {
        guard let trained = training.tokenAccuracy else { return [] }
        var advice: [AccuracyAdvice] = []
        func add(_ finding: Finding, _ text: String) {
            advice.append(AccuracyAdvice(finding: finding, description: text))
        }
        if trained < low, !gotWorse {
            add(
                .trainingLow,
                "training accuracy is \(share(trained)): the adapter does not hold the data; train "
                    + "twice as many iterations, raise rank or learning rate, or use another base "
                    + "model")
        }
        let held = validation?.tokenAccuracy
        if let held {
            let numbers = "validation accuracy is \(share(held)), training \(share(trained))"
            if training.rows < fewRows, trained - held > chance {
                add(
                    .fewRows,
                    "\(numbers), with \(training.rows) training rows: collect more or more varied "
                        + "rows; with few, the figure also jumps from one seed to the next")
            } else if trained - held > gap {
                add(
                    .validationBelowTraining,
                    "\(numbers), despite \(training.rows) training rows: the adapter learns them by "
                        + "heart; train fewer iterations, or raise dropout")
            }
        }
        if let tested = test?.tokenAccuracy, min(trained, held ?? trained) - tested > gap {
            add(
                .testBelowBoth,
                "test accuracy is \(share(tested)), training \(share(trained))"
                    + (held.map { ", validation \(share($0))" } ?? "")
                    + ": these rows are of another kind; train on more diverse rows, like those that "
                    + "the adapter will meet")
        }
        return advice
    }

    private static func share(_ value: Double) -> String {
        let tenths = Int((value * 1000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }
}
