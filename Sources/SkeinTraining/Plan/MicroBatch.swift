import SkeinBasics
import SkeinModels
import SkeinRows

/// The unit of work: rows that are computed together, on one thread. Other threads may help with
/// products (`WorkSharing`), which changes no bit.
package struct MicroBatch: Sendable, Equatable {
    /// The optimizer step, counted from 1.
    package let step: Int
    /// Place among the step's micro-batches, counted from 0: its leaf in the reduction tree.
    package let index: Int
    package let rows: [TokenizedRow]
    /// The step's pairs of answers divided by their chosen tokens (`PreferenceLoss`); else 0.
    package let tokenShare: Double

    package init(step: Int, index: Int, rows: [TokenizedRow], tokenShare: Double = 0) {
        self.tokenShare = tokenShare
        self.step = step
        self.index = index
        self.rows = rows
    }

    package var tokenCount: Int { rows.reduce(0) { $0 + $1.ids.count } }
    package var lossTokenCount: Int { rows.reduce(0) { $0 + $1.lossTokenCount } }
}

extension PlannedStep {
    /// The step's micro-batches with their rows.
    ///
    /// - Parameters:
    ///   - training: the sequences of the training rows.
    ///   - groups: the sequences of each row, in the order of the plan's `lengths`; nil: each row
    ///     is one.
    ///   - comparesAnswers: whether each row is a pair of answers.
    /// - Returns: micro-batches in the order of their index.
    package func microBatches(
        of training: [TokenizedRow], groups: [Range<Int>]? = nil, comparesAnswers: Bool = false
    ) -> [MicroBatch] {
        let rows = microBatches.map { rows in
            rows.flatMap { training[groups?[$0] ?? $0..<($0 + 1)] }
        }
        let share = comparesAnswers ? TokenizedRow.tokenShare(of: rows.joined()) : 0
        return rows.enumerated().map { index, rows in
            MicroBatch(step: step, index: index, rows: rows, tokenShare: share)
        }
    }
}

extension TokenizedRow {
    /// Pairs of answers to tokens of the chosen ones.
    ///
    /// - Parameter rows: the chosen and the rejected answer of each pair in turn.
    /// - Returns: 0 without any.
    package static func tokenShare(of rows: some Sequence<TokenizedRow>) -> Double {
        var (pairs, tokens) = (0, 0)
        for (index, row) in rows.enumerated() where index.isMultiple(of: 2) {
            pairs += 1
            tokens += row.lossTokenCount
        }
        return tokens == 0 ? 0 : Double(pairs) / Double(tokens)
    }
}

/// The result of the rows of one or more micro-batches: sums, never means.
package struct GradientSum: Sendable, Equatable {
    package var tokens: Int
    /// What the sum is divided by: loss tokens; of a loss of pairs, pairs.
    package var lossTokens: Int
    /// Sum of the cross-entropy over the loss tokens, or of the pairs' losses, in nats.
    package var lossSum: Double
    /// Gradient of `lossSum` by every trained parameter, in the order of `ParameterLayout`; empty
    /// for an evaluation.
    package var gradient: [Float]

    package init(tokens: Int, lossTokens: Int, lossSum: Double, gradient: [Float]) {
        self.tokens = tokens
        self.lossTokens = lossTokens
        self.lossSum = lossSum
        self.gradient = gradient
    }
}

/// A micro-batch's result, between computing and adding it: its gradient as numbers, rounded by the
/// codec and hashed. Packed for the wire it is a `WorkResult`. A logical worker's result of a round
/// looks the same: its gradient is the coded change.
package struct MicroBatchResult: Sendable {
    /// Its leaf in the reduction tree.
    package var index: Int
    package var sum: GradientSum
    /// Loss tokens that the model would have picked itself; counted in evaluations.
    package var correct: Int
    /// SHA-256 of the rounded gradient's canonical bytes.
    package var digest: SHA256.Digest
    package var worker: String
    /// Counted from 1.
    package var attempt: Int
    /// The logical worker's state after the round; nil for a micro-batch.
    package var state: NamedState?
    /// What it was computed from; nil where that is not recorded.
    package var inputs: WorkInputs?
    /// The log-probability of each row, where nothing else is asked for.
    package var logProbabilities: [Double] = []

    package init(
        index: Int, sum: GradientSum, correct: Int = 0, digest: SHA256.Digest, worker: String,
        attempt: Int, state: NamedState? = nil
    ) {
        self.index = index
        self.sum = sum
        self.correct = correct
        self.digest = digest
        self.worker = worker
        self.attempt = attempt
        self.state = state
    }

    /// Loss without gradient.
    package var loss: BatchLoss {
        BatchLoss(lossSum: sum.lossSum, lossTokens: sum.lossTokens, correct: correct)
    }
}
