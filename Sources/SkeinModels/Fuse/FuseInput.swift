import SkeinFormats

/// A base model and an adapter, and the tensors that they are together.
package struct FuseInput: Sendable {
    package let model: ModelDirectory
    /// nil: the base as it is, in another format or type.
    package let adapter: AdapterParameters?
    let description: ModelDescription
    let family: any ModelFamily
    private let changes: [String: [MergedTensor.Change]]
    /// That `changes` are made of.
    private let numbers: [Float]

    /// - Throws: `FileError`, `FormatError` when the model's description has changed meanwhile;
    ///   `FuseError.tiedEdge`.
    package init(model: ModelDirectory, adapter: AdapterParameters?) throws {
        self.model = model
        self.adapter = adapter
        description = try ModelDescription.open(model.path)
        family = try FamilyRegistry.standard.read(description).family
        (changes, numbers) = try adapter?.changes(model.configuration) ?? ([:], [])
    }

    var configuration: ModelConfiguration { model.configuration }
    var design: DecoderDesign { model.configuration.design }

    /// The tensor of this name in the folder, in the folder's order of rows.
    ///
    /// - Throws: `FormatError.missingTensor`.
    func tensor(_ name: String) throws -> MergedTensor {
        MergedTensor(
            view: try model.tensor(name), changes: changes[name] ?? [], numbers: numbers)
    }

    /// The rows of one projection of a tensor that several share.
    ///
    /// - Throws: `FormatError.missingTensor`.
    func part(_ projection: Projection, _ ending: String, in layer: Int) throws -> MergedTensor {
        let whole = design.tensor(projection.tensor + ending, in: layer)
        guard let rows = projection.rows else { return try tensor(whole) }
        let tensor = try tensor(whole)
        let changes = tensor.changes.filter { $0.rows == rows }.map {
            MergedTensor.Change(
                rows: 0..<rows.count, a: $0.a, b: $0.b, rank: $0.rank, scale: $0.scale,
                magnitude: $0.magnitude)
        }
        return MergedTensor(
            view: tensor.view.part(whole, rows: rows), changes: changes, numbers: numbers)
    }

    /// The plain type that holds the numbers of the base; F16 for blocks, whose own types would
    /// lose more.
    package var plainType: ElementType {
        let types = design.blocks.indices.flatMap { layer in
            design.blocks[layer].projections.prefix(1).compactMap { projection in
                // Fusing throws which tensor is missing.
                try? model.tensor(design.tensor(projection.tensor + ".weight", in: layer))
            }
        }
        guard let view = types.first else { return .f32 }
        if let type = view.elementType { return type.blockElements == 1 ? type : .f16 }
        return view.exactType == .f32 ? .f16 : view.exactType
    }
}

/// One tensor of the output.
struct FusedTensor {
    enum Source {
        /// Encoded anew.
        case merged(MergedTensor)
        /// The bytes of the base.
        case copied(TensorView)
        /// Not a weight.
        case floats([Float])
    }

    let name: String
    let shape: [Int]
    let type: ElementType
    let source: Source

    init(_ name: String, _ tensor: MergedTensor, as type: ElementType) {
        (self.name, shape, self.type) = (name, tensor.shape, type)
        source = .merged(tensor)
    }

    /// `view`: of one element type.
    init(copying view: TensorView, _ type: ElementType) {
        (name, shape, self.type) = (view.name, view.shape, type)
        source = .copied(view)
    }

    init(_ name: String, floats: [Float]) {
        (self.name, shape, type) = (name, [floats.count], .f32)
        source = .floats(floats)
    }

    var byteCount: Int {
        shape.reduce(1, *) / type.blockElements * type.blockBytes
    }
}
