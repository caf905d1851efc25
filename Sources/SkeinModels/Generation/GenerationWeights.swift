import SkeinFormats
import SkeinTensors

/// The frozen weights as generation reads them: each matrix packed, as small as in its file.
///
/// A token that follows a prompt reads every weight once and does little with it, so the number of
/// bytes decides the speed. Q4_0, Q4_1, Q8_0, BF16, F16 and F32 keep their types; all others are
/// kept as F32.
package final class GenerationWeights: Sendable {
    /// One decoder block.
    struct Block: Sendable {
        /// [D], before attention.
        let inputNorm: FloatBuffer
        /// [D], before the feed-forward part.
        let middleNorm: FloatBuffer
        /// `BlockDesign.places`.
        let places: [Int]
        /// [out, in] each, in the design's order.
        let projections: [InterleavedMatrix]
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

    /// Packs every matrix of `model`.
    ///
    /// - Parameters:
    ///   - model: Not kept: its files stay mapped only as long as the caller keeps it.
    ///   - team: The threads that pack.
    ///   - check: Called every 16 MiB or more; what it throws ends the packing.
    /// - Throws: `FormatError` when a tensor is missing; what `check` throws.
    package convenience init(
        model: ModelDirectory, team: ComputeTeam, check: () throws -> Void = {}
    ) throws {
        let configuration = model.configuration
        func matrix(_ name: String) throws -> MatrixSource { .file(try model.tensor(name)) }
        func vector(_ name: String) throws -> FloatBuffer {
            let view = try model.tensor(name)
            let buffer = FloatBuffer(count: view.elementCount)
            view.dequantize(rows: 0..<view.rows, into: buffer.base)
            return buffer
        }
        let design = configuration.design
        var norms: [FloatBuffer] = []
        var sources = [try matrix(design.names.embedding)]
        for (layer, block) in design.blocks.enumerated() {
            func name(_ part: String) -> String { design.tensor(part + ".weight", in: layer) }
            norms.append(try vector(name(block.computed.inputNorm)))
            norms.append(try vector(name(block.computed.middleNorm)))
            sources += try block.projections.map { try matrix(name($0.name)) }
        }
        norms.append(try vector(design.names.finalNorm))
        if !configuration.tiedEmbeddings { sources.append(try matrix(design.names.head)) }
        try self.init(configuration, sources, norms: norms, team: team, check: check)
    }

    /// Packs, as F32, the weights of a loaded decoder that computes in fp32.
    package convenience init(decoder: Decoder, team: ComputeTeam) {
        let weights = decoder.weights
        var sources = [MatrixSource.decoder(weights.embedding)]
        var norms: [FloatBuffer] = []
        for block in weights.blocks {
            norms += [block.inputNorm, block.middleNorm]
            sources += block.projections.map { MatrixSource.decoder($0) }
        }
        norms.append(weights.finalNorm)
        if !weights.configuration.tiedEmbeddings { sources.append(.decoder(weights.head)) }
        self.init(weights.configuration, sources, norms: norms, team: team, check: {})
    }

    /// Shapes and ranges:
    ///   - sources: the embedding, each layer's projections, the head when it is not the embedding.
    ///   - norms: two of each layer, the final one.
    private init(
        _ configuration: ModelConfiguration, _ sources: [MatrixSource], norms: [FloatBuffer],
        team: ComputeTeam, check: () throws -> Void
    ) rethrows {
        let (memory, matrices) = try MatrixSource.pack(sources, team: team, check: check)
        self.configuration = configuration
        self.memory = memory
        embedding = matrices[0]
        head = configuration.tiedEmbeddings ? matrices[0] : matrices[matrices.count - 1]
        finalNorm = norms[norms.count - 1]
        var first = 1
        blocks = configuration.design.blocks.enumerated().map { layer, design in
            let end = first + design.projections.count
            defer { first = end }
            return Block(
                inputNorm: norms[2 * layer], middleNorm: norms[2 * layer + 1],
                places: design.places,
                projections: Array(matrices[first..<end]))
        }
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
