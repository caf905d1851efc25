import SkeinFormats
import SkeinModels
import SkeinTensors

/// The frozen weights as generation reads them: each matrix packed, as small as in its file.
///
/// A token that follows a prompt reads every weight once and does little with it, so the number of
/// bytes decides the speed. Q4_0, Q4_1, Q8_0, BF16, F16 and F32 take the bytes that they have in
/// the file, Q4_K 3 % more; Q5_0, IQ4_NL, Q3_K, Q5_K, Q6_K and IQ4_XS take a byte a weight (`CodeRows`); others are
/// kept as the plain type that holds their numbers exactly: F32, or F16 or BF16 for MLX and
/// bitsandbytes.
package final class GenerationWeights: Sendable {
    /// One decoder block.
    struct Block: Sendable {
        let vectors: BlockVectors
        /// `BlockDesign.places`.
        let places: [Int]
        /// [out, in] each, in the design's order.
        let projections: [InterleavedMatrix]
        /// The same as prompts in int8 take them; nil where they take none.
        let codes: [QuantizedPanels?]
    }

    package let configuration: ModelConfiguration
    let blocks: [Block]
    /// [V, D].
    let embedding: InterleavedMatrix
    /// [V, D]; the embedding itself when tied.
    let head: InterleavedMatrix
    /// [D].
    let finalNorm: FloatBuffer
    private let memory: InterleavedMemory
    /// Whether prompts may be multiplied in int8.
    let hasCodes: Bool

    /// Bytes that the packed weights of a model will take, or somewhat more; nothing is read.
    ///
    /// - Parameters:
    ///   - model: the base.
    ///   - compute: of prompts; int8 needs a second copy of the projections.
    /// - Returns: bytes.
    /// - Throws: `FormatError` when a tensor is missing.
    package static func packedBytes(
        of model: ModelDirectory, compute: ComputeType = .fp32
    ) throws -> Int {
        let configuration = model.configuration
        // Norms and biases are seldom more than a few vectors for each block.
        let vectors = 16 * configuration.width * (configuration.design.blocks.count + 1)
        let sources = try sources(model)
        let codes =
            compute == .int8
            ? codeBytes(of: sources.map(\.shape), configuration.design) : 0
        return sources.reduce(vectors * MemoryLayout<Float>.stride + codes) {
            $0 + $1.packedBytes
        }
    }

    /// The embedding, each layer's projections, the head when it is not the embedding.
    private static func sources(_ model: ModelDirectory) throws -> [MatrixSource] {
        func matrix(_ name: String) throws -> MatrixSource { .file(try model.tensor(name)) }
        let design = model.configuration.design
        var sources = [try matrix(design.names.embedding)]
        for (layer, block) in design.blocks.enumerated() {
            sources += try block.projections.map {
                try matrix(design.tensor($0.name + ".weight", in: layer))
            }
        }
        if !model.configuration.tiedEmbeddings { sources.append(try matrix(design.names.head)) }
        return sources
    }

    /// Packs every matrix of `model`.
    ///
    /// - Parameters:
    ///   - model: Not kept: its files stay mapped only as long as the caller keeps it.
    ///   - compute: What prompts are multiplied in; int8 makes a second copy of the projections.
    ///   - team: The threads that pack.
    ///   - check: Called every 16 MiB or more; what it throws ends the packing.
    /// - Throws: `FormatError` when a tensor is missing; what `check` throws; in int8
    ///   `PackedMatrixError`.
    package convenience init(
        model: ModelDirectory, compute: ComputeType = .fp32, team: ComputeTeam,
        check: () throws -> Void = {}
    ) throws {
        let configuration = model.configuration
        let design = configuration.design
        let vectors = try design.blocks.indices.map { try BlockVectors(model, layer: $0) }
        let finalNorm = try BlockVectors.norm(model, design.names.finalNorm)
        let packed = try MatrixSource.pack(Self.sources(model), team: team, check: check)
        let codes =
            compute == .int8
            ? try Self.codes(of: packed.matrices, design, team: team, check: check) : nil
        self.init(configuration, packed, vectors, finalNorm: finalNorm, codes)
    }

    /// Packs, as F32, the weights of a loaded decoder that computes in fp32.
    package convenience init(decoder: Decoder, team: ComputeTeam) {
        let weights = decoder.weights
        var sources = [MatrixSource.decoder(weights.embedding)]
        for block in weights.blocks {
            sources += block.projections.map { MatrixSource.decoder($0) }
        }
        if !weights.configuration.tiedEmbeddings { sources.append(.decoder(weights.head)) }
        self.init(
            weights.configuration, MatrixSource.pack(sources, team: team, check: {}),
            weights.blocks.map(\.vectors), finalNorm: weights.finalNorm, nil)
    }

    /// Shapes and ranges:
    ///   - packed: the embedding, each layer's projections, the head when it is not the embedding.
    ///   - vectors: of each layer.
    ///   - codes: of each layer's projections; nil: there are none.
    private init(
        _ configuration: ModelConfiguration,
        _ packed: (memory: InterleavedMemory, matrices: [InterleavedMatrix]),
        _ vectors: [BlockVectors], finalNorm: FloatBuffer, _ codes: [[QuantizedPanels?]]?
    ) {
        let (memory, matrices) = packed
        self.configuration = configuration
        self.memory = memory
        embedding = matrices[0]
        head = configuration.tiedEmbeddings ? matrices[0] : matrices[matrices.count - 1]
        self.finalNorm = finalNorm
        hasCodes = codes != nil
        var first = 1
        blocks = configuration.design.blocks.enumerated().map { layer, design in
            let end = first + design.projections.count
            defer { first = end }
            return Block(
                vectors: vectors[layer], places: design.places,
                projections: Array(matrices[first..<end]),
                codes: codes?[layer]
                    ?? Array(repeating: nil, count: design.projections.count))
        }
    }

    /// Bytes of all that is held: matrices, codes, norms and biases.
    package var byteCount: Int {
        let codes = blocks.reduce(0) { sum, block in
            block.codes.reduce(sum) { sum, codes in
                sum
                    + (codes.map { QuantizedPanels.bytes(outputs: $0.outputs, inputs: $0.inputs) }
                        ?? 0)
            }
        }
        let vectors = blocks.reduce(finalNorm.count) { sum, block in
            let norms = [
                block.vectors.beforeAttention, block.vectors.afterAttention,
                block.vectors.beforeFeedForward, block.vectors.afterFeedForward,
                block.vectors.query, block.vectors.key,
            ]
            return (norms + block.vectors.biases).reduce(sum) { $0 + ($1?.count ?? 0) }
        }
        return memory.byteCount + codes + vectors * MemoryLayout<Float>.stride
    }

    /// Bytes of weights that one token reads: all but the embedding's other rows.
    package var bytesPerToken: Int {
        blocks.reduce(head.byteCount) { sum, block in
            block.projections.reduce(sum) { $0 + $1.byteCount }
        }
    }

    /// Multiplications and additions of all projections for one token, without the head.
    package var projectionOperations: Int {
        blocks.reduce(0) { sum, block in
            block.projections.reduce(sum) { $0 + 2 * $1.rows * $1.columns }
        }
    }
}
