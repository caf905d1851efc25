/// The unit of work: rows that are computed together, on one thread. Others may help it with products
/// (`WorkSharing`), which changes no bit.
package struct MicroBatch: Sendable, Equatable {
    /// The optimizer step, counted from 1.
    package let step: Int
    /// Place among the step's micro-batches, counted from 0: its leaf in the reduction tree.
    package let index: Int
    package let rows: [TokenizedRow]

    package init(step: Int, index: Int, rows: [TokenizedRow]) {
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
    /// - Parameter training: the training rows, in the order of the plan's `lengths`.
    /// - Returns: micro-batches in the order of their index.
    package func microBatches(of training: [TokenizedRow]) -> [MicroBatch] {
        microBatches.enumerated().map { index, rows in
            MicroBatch(step: step, index: index, rows: rows.map { training[$0] })
        }
    }
}

/// What computing a micro-batch gives: sums, never means.
package struct MicroBatchResult: Sendable, Equatable {
    package var tokens: Int
    package var lossTokens: Int
    /// Sum of the cross-entropy over the loss tokens, in nats.
    package var lossSum: Double
    /// Gradient of `lossSum` by every trained parameter, in the order of `ParameterLayout`.
    package var gradient: [Float]

    package init(tokens: Int, lossTokens: Int, lossSum: Double, gradient: [Float]) {
        self.tokens = tokens
        self.lossTokens = lossTokens
        self.lossSum = lossSum
        self.gradient = gradient
    }
}
