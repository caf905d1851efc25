import SkeinTensors

// The loss of pairs of answers: what every token weighs is known only when both answers have been read.
extension DecoderPass {
    /// Final norm's output to loss and, with `gradient`, the gradient of the head's input.
    ///
    /// The loss rows are predicted twice if they do not fit into one chunk of logits: once for the
    /// log-probabilities of both answers, and once for the gradient, whose rows are those of the
    /// cross-entropy times the pair's weight.
    func pairedHead(_ pairs: PackedBatch.Pairs, gradient: Bool) -> BatchLoss {
        let chunks = lossRowChunks
        let isWhole = chunks.count == 1
        var losses: [Double] = []
        losses.reserveCapacity(batch.lossRows.count)
        for rows in chunks {
            predict(rows)
            losses += crossEntropies(rows, gradient: gradient && isWhole)
        }
        let (loss, weights) = judge(pairs, losses)
        guard gradient else { return loss }
        for rows in chunks {
            if !isWhole {
                predict(rows)
                _ = crossEntropies(rows, gradient: true)
            }
            for (i, row) in rows.enumerated() {
                Rows.scale(
                    memory.logits + i * model.vocabularySize, count: model.vocabularySize,
                    by: weights[row])
            }
            headBackward(rows)
        }
        return loss
    }

    /// The log-probability of each sequence's loss tokens.
    ///
    /// - Parameter losses: the cross-entropy of each loss row.
    /// - Returns: numbers of at most 0.
    func logProbabilities(_ losses: [Double]) -> [Double] {
        batch.lossRowsOfSequences.map { rows in -rows.reduce(0) { $0 + losses[$1] } }
    }

    /// The log-probability of each sequence's loss tokens, after a forward pass.
    func sequenceLogProbabilities() -> [Double] {
        prepareHead()
        var losses: [Double] = []
        for rows in lossRowChunks {
            predict(rows)
            losses += crossEntropies(rows, gradient: false)
        }
        return logProbabilities(losses)
    }

    private func crossEntropies(_ rows: Range<Int>, gradient: Bool) -> [Double] {
        CrossEntropy.rows(
            memory.logits, vocabulary: model.vocabularySize, targets: batch.lossTargets[rows],
            gradient: gradient, softCap: model.design.logitsSoftCap
        ).map(\.loss)
    }

    /// The sum of the pairs' losses, and what each loss row's gradient is multiplied with.
    private func judge(
        _ pairs: PackedBatch.Pairs, _ losses: [Double]
    ) -> (loss: BatchLoss, weights: [Float]) {
        let sequences = batch.lossRowsOfSequences
        let known = logProbabilities(losses)
        let answers = sequences.indices.map { index in
            PreferenceLoss.Answer(
                logProbability: known[index], tokens: sequences[index].count,
                reference: pairs.references.isEmpty ? 0 : pairs.references[index])
        }
        var loss = BatchLoss()
        var weights = [Float](repeating: 0, count: losses.count)
        for chosen in stride(from: 0, to: answers.count - 1, by: 2) {
            let result = pairs.loss(
                chosen: answers[chosen], rejected: answers[chosen + 1],
                tokenShare: pairs.tokenShare)
            for row in sequences[chosen] { weights[row] = Float(result.chosenWeight) }
            for row in sequences[chosen + 1] { weights[row] = Float(result.rejectedWeight) }
            loss += BatchLoss(
                lossSum: result.loss, lossTokens: 1, correct: result.isPreferred ? 1 : 0)
        }
        return (loss, weights)
    }
}

extension Decoder {
    /// The log-probability of each sequence's loss tokens, without dropout; nil when the pass was
    /// abandoned. `features`: as `gradient` has it.
    package func logProbabilities(
        of batch: PackedBatch, features: UnsafePointer<Float>? = nil,
        parameters: UnsafePointer<Float>?, workspace: DecoderWorkspace,
        place: WorkSharing.Place? = nil, progress: PassProgress?
    ) -> [Double]? {
        begin(progress, hasFeatures: features != nil, training: false)
        let pass = DecoderPass(
            decoder: self, batch: batch, features: features, parameters: parameters, dropout: nil,
            training: false, progress: progress, workspace: workspace, place: place)
        return pass.forward() ? pass.sequenceLogProbabilities() : nil
    }
}
