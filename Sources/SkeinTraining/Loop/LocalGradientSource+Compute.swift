import SkeinBasics
import SkeinModels

/// A micro-batch's result, and the bytes that stand for its gradient on a wire.
package struct PackedDelivery: Sendable {
    package var delivery: GradientDelivery
    /// Of `delivery.result.gradient`, by the run's codec.
    package var payload: [UInt8]
}

// One micro-batch, on the calling thread.
extension LocalGradientSource {
    /// Loss and gradient of a micro-batch, rounded and hashed.
    package func gradient(
        of microBatch: MicroBatch, parameters: [Float], workspace: DecoderWorkspace
    ) -> GradientDelivery {
        let rounded = compute(microBatch, parameters, workspace, progress: nil) {
            codec.round(
                &$0, seed: seed, step: microBatch.step, microBatch: microBatch.index)
        }
        guard let rounded else {
            preconditionFailure("only who holds a progress can abandon a pass")
        }
        return rounded.delivery
    }

    /// Loss and gradient of a micro-batch, rounded, hashed and packed: the same numbers.
    ///
    /// - Parameters:
    ///   - microBatch: its tokens and targets are the model's (`TokenizedRow.fits`).
    ///   - parameters: the flat vector of LoRA matrices.
    ///   - workspace: of the calling thread.
    ///   - progress: lets another thread follow and abandon.
    /// - Returns: nil when the pass was abandoned.
    package func packedGradient(
        of microBatch: MicroBatch, parameters: [Float], workspace: DecoderWorkspace,
        progress: PassProgress? = nil
    ) -> PackedDelivery? {
        compute(microBatch, parameters, workspace, progress: progress) {
            codec.pack(&$0, seed: seed, step: microBatch.step, microBatch: microBatch.index)
        }.map { PackedDelivery(delivery: $0.delivery, payload: $0.rest) }
    }

    private func compute<Rest>(
        _ microBatch: MicroBatch, _ parameters: [Float], _ workspace: DecoderWorkspace,
        progress: PassProgress?, rounding round: (inout [Float]) -> Rest
    ) -> (delivery: GradientDelivery, rest: Rest)? {
        let address = dropout.map { Decoder.DropoutAddress(dropout: $0, step: microBatch.step) }
        var loss: BatchLoss?
        var gradient = [Float](unsafeUninitializedCapacity: parameters.count) { buffer, count in
            guard let out = buffer.baseAddress else { return }
            parameters.withUnsafeBufferPointer { parameters in
                guard let parameters = parameters.baseAddress else { return }
                loss = decoder.gradient(
                    of: microBatch.packed, parameters: parameters, dropout: address,
                    workspace: workspace, into: out, progress: progress)
            }
            count = loss == nil ? 0 : parameters.count
        }
        guard let loss else { return nil }
        let rest = round(&gradient)
        let digest = GradientCodec.digest(of: gradient)
        let delivery = GradientDelivery(
            index: microBatch.index,
            result: MicroBatchResult(
                tokens: microBatch.tokenCount, lossTokens: loss.lossTokens,
                lossSum: loss.lossSum, gradient: gradient),
            digest: digest, worker: workerName, attempt: 1)
        return (delivery, rest)
    }
}

extension MicroBatch {
    /// The rows end to end, as the decoder takes them.
    package var packed: PackedBatch { PackedBatch(rows.map(PackedBatch.Sequence.init)) }
}

extension PackedBatch.Sequence {
    /// A tokenized row as the decoder takes it.
    package init(_ row: TokenizedRow) {
        var isTarget = [Bool](repeating: false, count: row.ids.count)
        for range in row.targets {
            for position in range { isTarget[position] = true }
        }
        self.init(
            tokens: row.ids, isTarget: isTarget, number: UInt32(truncatingIfNeeded: row.number))
    }
}
