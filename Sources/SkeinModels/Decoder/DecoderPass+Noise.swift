import SkeinTensors

extension Decoder {
    /// The address of a step's noise on embeddings.
    package struct NoiseAddress: Sendable {
        let noise: EmbeddingNoise
        let step: UInt32

        package init(noise: EmbeddingNoise, step: Int) {
            self.noise = noise
            self.step = UInt32(truncatingIfNeeded: step)
        }
    }
}

extension DecoderPass {
    /// Noise on each sequence's embeddings, before the factor that some families multiply them by.
    func add(_ noise: Decoder.NoiseAddress) {
        for (index, number) in batch.sequenceNumbers.enumerated() {
            let (start, end) = (batch.offsets[index], batch.offsets[index + 1])
            noise.noise.add(
                to: residual(0) + start * model.width, tokens: end - start, width: model.width,
                length: end - start + 1, step: noise.step, sequence: number)
        }
    }
}
