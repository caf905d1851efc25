/// Sequences of different lengths laid end to end: no padding exists, none is multiplied.
package struct PackedBatch: Sendable, Equatable {
    /// All tokens, sequence after sequence.
    package let tokens: [Int32]
    /// First token of each sequence; one more entry at the end holds the token count.
    package let offsets: [Int]
    /// Rows (token places) whose next token carries loss, ascending.
    package let lossRows: [Int]
    /// The next token of each loss row.
    package let lossTargets: [Int32]
    /// The address of each sequence's dropout masks: its row's number. Sequences of one row draw the
    /// same ones.
    package let sequenceNumbers: [UInt32]

    /// One sequence of a batch.
    package struct Sequence {
        package var tokens: [Int32]
        /// For each token, whether predicting it carries loss; the first token never does.
        package var isTarget: [Bool]
        package var number: UInt32

        package init(tokens: [Int32], isTarget: [Bool], number: UInt32) {
            self.tokens = tokens
            self.isTarget = isTarget
            self.number = number
        }
    }

    /// Sequences for training or validation. A sequence's last token is only ever a target: nothing
    /// is predicted from it, so it is not read.
    package init(_ sequences: [Sequence]) {
        var tokens: [Int32] = []
        var offsets = [0]
        var rows: [Int] = []
        var targets: [Int32] = []
        for sequence in sequences {
            let start = tokens.count
            tokens += sequence.tokens.dropLast()
            offsets.append(tokens.count)
            for i in sequence.tokens.indices.dropFirst() where sequence.isTarget[i] {
                rows.append(start + i - 1)
                targets.append(sequence.tokens[i])
            }
        }
        self.tokens = tokens
        self.offsets = offsets
        lossRows = rows
        lossTargets = targets
        sequenceNumbers = sequences.map(\.number)
    }

    /// Tokens of the longest sequence.
    package var longest: Int {
        zip(offsets, offsets.dropFirst()).reduce(0) { max($0, $1.1 - $1.0) }
    }
}

/// What a micro-batch reports about its loss: sums, never means.
package struct BatchLoss: Sendable, Equatable {
    /// Sum of the loss tokens' cross-entropies, natural logarithm.
    package var lossSum: Double
    package var lossTokens: Int
    /// Loss tokens that the model would have picked.
    package var correct: Int

    package init(lossSum: Double = 0, lossTokens: Int = 0, correct: Int = 0) {
        self.lossSum = lossSum
        self.lossTokens = lossTokens
        self.correct = correct
    }

    package static func += (left: inout BatchLoss, right: BatchLoss) {
        left.lossSum += right.lossSum
        left.lossTokens += right.lossTokens
        left.correct += right.correct
    }
}
