import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors

/// How the frozen weights are held while they are used.
package enum WeightResidence: String, Sendable, CaseIterable {
    /// All of them in memory: as fp32, or as bf16 packed for both directions.
    case resident
    /// As they are in the mapped file; each matrix is dequantized when a product needs it.
    case streamed
}

/// The frozen weights of a Llama-family decoder.
package struct DecoderWeights: Sendable {
    /// One decoder block.
    package struct Block: Sendable {
        /// [D], before attention.
        let inputNorm: FloatBuffer
        /// [D], before the feed-forward part.
        let middleNorm: FloatBuffer
        /// One per `TargetModule`, in its order; [out, in].
        let projections: [WeightMatrix]
    }

    package let configuration: ModelConfiguration
    package let residence: WeightResidence
    package let compute: ComputeType
    let blocks: [Block]
    /// [V, D], for its rows.
    let embedding: WeightMatrix
    /// [V, D]; the embedding's own numbers when tied.
    let head: WeightMatrix
    /// [D].
    let finalNorm: FloatBuffer
    let rotary: RotaryEmbedding

    /// Loads or maps every tensor of `model`.
    ///
    /// Shapes and ranges:
    ///   - positions: length of the longest sequence that will be used.
    ///   - threads: how many threads dequantize at once.
    ///   - progress: told, on these threads, of bytes in the file that have been read; false ends
    ///     the loading.
    /// - Throws: `FormatError` when a tensor is missing or has another shape; `CancellationError`
    ///   when `progress` wanted no more.
    package init(
        model: ModelDirectory, residence: WeightResidence, compute: ComputeType = .fp32,
        positions: Int, threads: Int, progress: @Sendable (Int) -> Bool = { _ in true }
    ) throws {
        let configuration = model.configuration
        guard compute == .fp32 || configuration.feedForwardWidth.isMultiple(of: 2) else {
            throw FormatError.unsupported(
                path: model.path, field: "feed_forward_length",
                found: String(configuration.feedForwardWidth),
                supported: "even numbers, or --compute fp32")
        }
        var loader = WeightLoader(residence: residence, compute: compute)
        var blocks: [Block] = []
        for layer in 0..<configuration.layerCount {
            let prefix = "model.layers.\(layer)."
            blocks.append(
                Block(
                    inputNorm: try Self.vector(model, prefix + "input_layernorm.weight"),
                    middleNorm: try Self.vector(model, prefix + "post_attention_layernorm.weight"),
                    projections: try TargetModule.allCases.map { module in
                        let name = "\(prefix)\(module.parent).\(module.name).weight"
                        return try loader.add(model.tensor(name))
                    }))
        }
        self.blocks = blocks
        let table = try model.tensor("model.embed_tokens.weight")
        let tied = configuration.tiedEmbeddings
        switch compute {
        case .fp32:
            embedding = try loader.add(table)
            head = tied ? embedding : try loader.add(model.tensor("lm_head.weight"))
        case .bf16:
            // A step reads as many rows as it has tokens: the mapped file does for that.
            embedding = WeightMatrix(streaming: table, compute: compute)
            head = try loader.add(tied ? table : model.tensor("lm_head.weight"))
        }
        finalNorm = try Self.vector(model, "model.norm.weight")
        guard loader.run(threads: threads, progress: progress) else { throw CancellationError() }
        if residence == .resident { model.releasePages() }
        self.configuration = configuration
        self.residence = residence
        self.compute = compute
        rotary = RotaryEmbedding(
            headDimension: configuration.headDimension, theta: configuration.ropeTheta,
            divisors: configuration.ropeFrequencyDivisors, positions: positions)
    }

    private static func vector(_ model: ModelDirectory, _ name: String) throws -> FloatBuffer {
        let view = try model.tensor(name)
        let buffer = FloatBuffer(count: view.rows * view.columns)
        view.dequantize(rows: 0..<view.rows, into: buffer.base)
        return buffer
    }
}
