import Basics
import Formats
import Foundation
import Tensors

/// How the frozen weights are held while they are used.
public enum WeightResidence: String, Sendable, CaseIterable {
    /// All of them as fp32 in memory.
    case resident
    /// As they are in the mapped file; each matrix is dequantized when a product needs it.
    case streamed
}

/// The frozen weights of a Llama-family decoder.
public struct DecoderWeights: Sendable {
    /// One decoder block.
    public struct Block: Sendable {
        /// [D], before attention.
        let inputNorm: FloatBuffer
        /// [D], before the feed-forward part.
        let middleNorm: FloatBuffer
        /// One per `TargetModule`, in its order; [out, in].
        let projections: [WeightMatrix]
    }

    public let configuration: ModelConfiguration
    public let residence: WeightResidence
    let blocks: [Block]
    /// [V, D].
    let embedding: WeightMatrix
    /// [V, D]; the embedding itself when tied.
    let head: WeightMatrix
    /// [D].
    let finalNorm: FloatBuffer
    let rotary: RotaryEmbedding

    /// Loads or maps every tensor of `model`.
    ///
    /// Shapes and ranges:
    ///   - positions: length of the longest sequence that will be used.
    ///   - threads: how many threads dequantize at once.
    /// - Throws: `FormatError` when a tensor is missing or has another shape.
    public init(
        model: ModelDirectory, residence: WeightResidence, positions: Int, threads: Int
    ) throws {
        let configuration = model.configuration
        var loader = WeightLoader(residence: residence)
        var blocks: [Block] = []
        for layer in 0..<configuration.layerCount {
            let prefix = "model.layers.\(layer)."
            blocks.append(
                Block(
                    inputNorm: try Self.vector(model, prefix + "input_layernorm.weight"),
                    middleNorm: try Self.vector(model, prefix + "post_attention_layernorm.weight"),
                    projections: try TargetModule.allCases.map { module in
                        let name = "\(prefix)\(module.parent).\(module.name).weight"
                        return loader.add(try model.tensor(name))
                    }))
        }
        self.blocks = blocks
        embedding = loader.add(try model.tensor("model.embed_tokens.weight"))
        head =
            configuration.tiedEmbeddings
            ? embedding : loader.add(try model.tensor("lm_head.weight"))
        finalNorm = try Self.vector(model, "model.norm.weight")
        loader.run(threads: threads)
        self.configuration = configuration
        self.residence = residence
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

/// Gathers the matrices to dequantize and then does them on several threads.
private struct WeightLoader {
    let residence: WeightResidence
    private var pending: [(view: TensorView, buffer: FloatBuffer)] = []

    init(residence: WeightResidence) {
        self.residence = residence
    }

    mutating func add(_ view: TensorView) -> WeightMatrix {
        guard residence == .resident else { return WeightMatrix(streaming: view) }
        let buffer = FloatBuffer(count: view.rows * view.columns)
        pending.append((view, buffer))
        return WeightMatrix(resident: buffer, rows: view.rows, columns: view.columns)
    }

    /// Every matrix is written by one thread; the pieces are disjoint.
    func run(threads: Int) {
        let pieces = pending.flatMap { item in
            stride(from: 0, to: item.view.rows, by: 4096).map { first in
                (item.view, item.buffer, first..<min(first + 4096, item.view.rows))
            }
        }
        let lanes = max(1, threads)
        DispatchQueue.concurrentPerform(iterations: lanes) { lane in
            for index in stride(from: lane, to: pieces.count, by: lanes) {
                let (view, buffer, rows) = pieces[index]
                view.dequantize(
                    rows: rows, into: buffer.base + rows.lowerBound * view.columns)
            }
        }
    }
}
