import SkeinTensors

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
    /// How the loss is that of pairs of answers; nil: the cross-entropy of every loss row.
    package let pairs: Pairs?

    /// Sequences 2k and 2k + 1 are the chosen and the rejected answer of pair k.
    package struct Pairs: Sendable, Equatable {
        package var loss: PreferenceLoss
        /// As `PreferenceLoss` takes it.
        package var tokenShare: Double
        /// The log-probability of each sequence's loss tokens under the reference model; empty where the loss
        /// does not read it.
        package var references: [Double]

        package init(loss: PreferenceLoss, tokenShare: Double, references: [Double] = []) {
            self.loss = loss
            self.tokenShare = tokenShare
            self.references = references
        }
    }

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
    ///
    /// - Parameters:
    ///   - sequences: in the order of computation; with `pairs` two for each pair.
    ///   - pairs: how the loss is that of pairs.
    package init(_ sequences: [Sequence], pairs: Pairs? = nil) {
        if let pairs {
            precondition(
                sequences.count.isMultiple(of: 2)
                    && (pairs.references.isEmpty || pairs.references.count == sequences.count),
                "a pair is two sequences, and each has its reference or none has")
        }
        self.pairs = pairs
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

    /// What some of the sequences read, without any loss.
    ///
    /// - Parameter sequences: their indices.
    /// - Returns: those sequences, in that order.
    package func inputs(of sequences: [Int]) -> PackedBatch {
        PackedBatch(
            inputs: sequences.map {
                (tokens[offsets[$0]..<offsets[$0 + 1]], sequenceNumbers[$0])
            })
    }

    private init(inputs: [(tokens: ArraySlice<Int32>, number: UInt32)]) {
        tokens = inputs.flatMap(\.tokens)
        offsets = inputs.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.tokens.count) }
        sequenceNumbers = inputs.map(\.number)
        lossRows = []
        lossTargets = []
        pairs = nil
    }

    /// For each sequence, its part of `lossRows`.
    package var lossRowsOfSequences: [Range<Int>] {
        var next = 0
        return zip(offsets, offsets.dropFirst()).map { _, end in
            let start = next
            while next < lossRows.count, lossRows[next] < end { next += 1 }
            return start..<next
        }
    }

    /// Tokens of the longest sequence.
    package var longest: Int {
        zip(offsets, offsets.dropFirst()).reduce(0) { max($0, $1.1 - $1.0) }
    }
}

/// What a micro-batch reports about its loss: sums, never means.
package struct BatchLoss: Sendable, Equatable {
    /// Sum of the loss tokens' cross-entropies, natural logarithm; of pairs, of their losses.
    package var lossSum: Double
    /// What the sum is divided by in the end: loss tokens, or pairs.
    package var lossTokens: Int
    /// Loss tokens that the model would have picked; of pairs, those whose chosen answer is ahead.
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
