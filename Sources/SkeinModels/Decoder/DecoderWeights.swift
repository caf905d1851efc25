import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors

/// How the frozen weights are held while they are used.
package enum WeightResidence: String, Sendable, CaseIterable {
    /// All of them in memory: as fp32, or as bf16 or int8 packed for both directions.
    case resident
    /// As stored in the mapped file; each matrix is dequantized when a product needs it.
    case streamed
}

/// The frozen weights of a decoder.
package struct DecoderWeights: Sendable {
    /// One decoder block.
    package struct Block: Sendable {
        package let vectors: BlockVectors
        /// `BlockDesign.places`.
        let places: [Int]
        /// [out, in] each, in the design's order.
        package let projections: [WeightMatrix]
        let rotation: Rotation
    }

    package let configuration: ModelConfiguration
    package let residence: WeightResidence
    package let compute: ComputeType
    package let blocks: [Block]
    /// [V, D], read by rows.
    package let embedding: WeightMatrix
    /// [V, D]; the embedding's own numbers when tied.
    package let head: WeightMatrix
    /// [D].
    package let finalNorm: FloatBuffer

    /// Loads or maps every tensor of `model`.
    ///
    /// Shapes and ranges:
    ///   - positions: length of the longest sequence to be used.
    ///   - threads: how many threads dequantize at once.
    ///   - progress: gets, on these threads, the bytes of the file that were read; false ends the
    ///     loading.
    /// - Throws: `FormatError` when a tensor is missing or has another shape; `EngineError` for another
    ///   compute type than the process can have; `CancellationError` when `progress` returned false.
    package init(
        model: any WeightSource, residence: WeightResidence, compute: ComputeType = .fp32,
        positions: Int, threads: Int, progress: @Sendable (Int) -> Bool = { _ in true }
    ) throws {
        let configuration = model.configuration
        let design = configuration.design
        try Engine.prepare(compute)
        guard compute != .bf16 || configuration.feedForwardWidth.isMultiple(of: 2) else {
            throw FormatError.unsupported(
                path: model.path, field: "feed_forward_length",
                found: String(configuration.feedForwardWidth),
                supported: "even numbers, or --compute fp32 or int8")
        }
        var loader = WeightLoader(residence: residence, compute: compute)
        var blocks: [Block] = []
        let rotations = Rotation.ofLayers(configuration, positions: positions)
        for (layer, block) in design.blocks.enumerated() {
            blocks.append(
                Block(
                    vectors: try BlockVectors(model, layer: layer),
                    places: block.places,
                    projections: try block.projections.map {
                        try loader.add(model.tensor(design.tensor($0.name + ".weight", in: layer)))
                    },
                    rotation: rotations[layer]))
        }
        self.blocks = blocks
        let table = try model.tensor(design.names.embedding)
        let tied = configuration.tiedEmbeddings
        switch compute {
        case .fp32:
            embedding = try loader.add(table)
            head = tied ? embedding : try loader.add(model.tensor(design.names.head))
        case .bf16, .int8:
            // A step reads as many rows as it has tokens: the mapped file is fast enough.
            embedding = WeightMatrix(streaming: table, compute: compute)
            head = try loader.add(tied ? table : model.tensor(design.names.head))
        }
        finalNorm = try BlockVectors.norm(model, design.names.finalNorm)
        guard loader.run(threads: threads, progress: progress) else { throw CancellationError() }
        if residence == .resident { model.releasePages() }
        self.configuration = configuration
        self.residence = residence
        self.compute = compute
    }
}
