import Formats
import Tensors

/// Reads tokens one after the other with a cache and gives the logits of the last one.
///
/// Not Sendable: one generation owns it. Without dropout; the adapter is applied as in training.
public final class DecoderSession {
    public let decoder: Decoder
    private let parameters: [Float]?
    private let cache: KVCache
    private let workspace: DecoderWorkspace

    /// Shapes and ranges:
    ///   - parameters: the flat vector of LoRA matrices; nil for the base model.
    ///   - capacity: tokens of prompt and answer together.
    public init(decoder: Decoder, parameters: [Float]?, capacity: Int) {
        self.decoder = decoder
        self.parameters = parameters
        cache = KVCache(model: decoder.model, capacity: capacity)
        workspace = DecoderWorkspace()
    }

    /// Tokens that still fit.
    public var room: Int { cache.capacity - cache.count }

    /// Appends `tokens` (at least one, at most `room`) and returns the last one's logits, [V].
    public func logits(after tokens: [Int32]) -> [Float] {
        read(tokens).logits
    }

    /// Appends `tokens`; the logits of the last one, and its residual stream after the embedding,
    /// after each block and after the final norm: `layerCount + 2` vectors of [D].
    public func read(_ tokens: [Int32]) -> (logits: [Float], hidden: [[Float]]) {
        precondition(!tokens.isEmpty && tokens.count <= room, "tokens fit the cache")
        let batch = PackedBatch(reading: tokens)
        if let parameters {
            return parameters.withUnsafeBufferPointer { run(batch, $0.baseAddress) }
        }
        return run(batch, nil)
    }

    private func run(
        _ batch: PackedBatch, _ parameters: UnsafePointer<Float>?
    ) -> (logits: [Float], hidden: [[Float]]) {
        let pass = DecoderPass(
            decoder: decoder, batch: batch, parameters: parameters, dropout: nil, training: false,
            past: cache.count, workspace: workspace)
        let width = decoder.model.width
        let last = (batch.tokens.count - 1) * width
        var hidden: [[Float]] = []
        pass.embed()
        for layer in 0..<decoder.model.layerCount {
            let row = UnsafeBufferPointer(start: pass.residual(layer) + last, count: width)
            hidden.append(Array(row))
            pass.blockForward(layer, cache: cache)
        }
        let out = pass.residual(decoder.model.layerCount) + last
        hidden.append(Array(UnsafeBufferPointer(start: out, count: width)))
        cache.count += batch.tokens.count
        let (normed, logits) = pass.lastLogits(out)
        hidden.append(normed)
        return (logits, hidden)
    }
}

extension DecoderPass {
    /// Final norm and head of one row.
    func lastLogits(_ row: UnsafePointer<Float>) -> (normed: [Float], logits: [Float]) {
        let width = model.width
        var normed = [Float](repeating: 0, count: width)
        var logits = [Float](repeating: 0, count: model.vocabularySize)
        var inverse: Float = 0
        RMSNorm.forward(
            row, weight: decoder.weights.finalNorm.base, epsilon: model.normEpsilon, tokens: 1,
            width: width, into: &normed, inverse: &inverse)
        logits.withUnsafeMutableBufferPointer { buffer in
            guard let out = buffer.baseAddress else { return }
            normed.withUnsafeBufferPointer { normed in
                guard let normed = normed.baseAddress else { return }
                forEachPanel { panel in
                    decoder.weights.head.withRows(panel, scratch: memory.weights) { w in
                        matMul(
                            m: 1, n: panel.count, k: width, normed, strideA: width,
                            w, .transposed, strideB: width, into: out + panel.lowerBound,
                            strideC: model.vocabularySize)
                    }
                }
            }
        }
        return (normed, logits)
    }
}
