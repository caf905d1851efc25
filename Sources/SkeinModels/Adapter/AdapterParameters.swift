import SkeinBasics
import SkeinFormats

/// The trained numbers: one flat vector of all LoRA matrices, laid out by an `AdapterShape`.
package struct AdapterParameters: Sendable {
    package let shape: AdapterShape
    package var values: [Float]

    /// A from Kaiming uniform with a = sqrt(5), which is U(-1/sqrt(in), 1/sqrt(in)); B zero, as PEFT
    /// starts. Each number is addressed by (seed, layer, projection's address, index), so it does not
    /// depend on which other projections are adapted.
    package init(shape: AdapterShape, seed: UInt64) {
        self.shape = shape
        MemoryShortage.check(floats: shape.layout.count, for: "the adapter")
        values = [Float](repeating: 0, count: shape.layout.count)
        let random = AddressedRandom(seed: seed, purpose: .adapterInitialization)
        for (layer, pairs) in shape.pairs.enumerated() {
            for case let pair? in pairs where !pair.sharesA {
                let bound = 1 / Float(pair.inputs).squareRoot()
                for i in 0..<(shape.configuration.rank * pair.inputs) {
                    let words = random.block(UInt32(i / 4), UInt32(layer), UInt32(pair.address))
                    let unit = AddressedRandom.unitFloat(words[i % 4])
                    values[pair.a + i] = (2 * unit - 1) * bound
                }
            }
        }
    }

    /// `values`: as many as the shape's layout has.
    package init(shape: AdapterShape, values: [Float]) {
        precondition(values.count == shape.layout.count, "numbers of another adapter")
        self.shape = shape
        self.values = values
    }

    /// The matrices of a PEFT folder.
    ///
    /// - Throws: `AdapterError` when a matrix is missing, has another shape, or is not part of
    ///   `shape`.
    package init(shape: AdapterShape, files: AdapterFiles) throws {
        try shape.admit(files.outline)
        self.shape = shape
        do throws(LayoutProblem) {
            values = try shape.layout.flatten(files.tensors)
        } catch {
            throw AdapterError(error)
        }
    }

    /// The matrices of a PEFT folder, whichever projections they adapt.
    ///
    /// - Throws: `AdapterError`; `FormatError` when they do not fit `model`.
    package init(files: AdapterFiles, model: ModelConfiguration) throws {
        try files.outline.check(against: model)
        let configuration = files.configuration
        guard let first = files.layers.first, let last = files.layers.last,
            files.layers == Array(first...last)
        else { throw AdapterError.layersWithGaps(files.layers) }
        let lora = LoRAConfiguration(
            rank: configuration.rank, scale: Float(configuration.scale),
            dropout: Float(configuration.dropout),
            targets: configuration.targetModules.compactMap(model.design.blocks[first].target),
            layers: first..<(last + 1))
        try model.design.check(lora.targets, layers: lora.layers)
        try self.init(shape: AdapterShape(lora, model: model), files: files)
    }
}

extension AdapterShape {
    /// Refuses an adapter with other matrices or another scale, before its numbers are read.
    ///
    /// - Throws: `AdapterError`.
    package func admit(_ outline: AdapterOutline) throws(AdapterError) {
        let scale = Float(outline.configuration.scale)
        guard scale == configuration.scale else {
            throw .scale(expected: configuration.scale, found: scale)
        }
        do throws(LayoutProblem) {
            try layout.check(outline.shapes)
        } catch {
            throw AdapterError(error)
        }
    }
}

/// An adapter that does not fit the model or the configuration.
package enum AdapterError: Error, Equatable {
    case missingMatrix(name: String)
    case unexpectedMatrix(name: String)
    case shape(name: String, expected: [Int], found: [Int])
    /// The adapter was made with another alpha / rank.
    case scale(expected: Float, found: Float)
    /// There are gaps between the adapted layers.
    case layersWithGaps([Int])
    /// An adapter of fused modules that is more than adapters of their slices.
    case notBlockDiagonal

    init(_ problem: LayoutProblem) {
        switch problem {
        case .missing(let name): self = .missingMatrix(name: name)
        case .wrongShape(let name, let expected, let found):
            self = .shape(name: name, expected: expected, found: found)
        case .unexpected(let name): self = .unexpectedMatrix(name: name)
        }
    }
}

extension AdapterError: Explained {
    package var explanation: Explanation {
        switch self {
        case .missingMatrix(let name):
            Explanation(
                what: "the adapter has no matrix for a projection that the run adapts",
                place: name,
                remedy: "give the --target-modules, --layers and --rank that it was made with",
                status: .badData)
        case .unexpectedMatrix(let name):
            Explanation(
                what: "the adapter has a matrix for a projection that the run does not adapt",
                place: name,
                remedy: "give the --target-modules and --layers that it was made with",
                status: .badData)
        case .shape(let name, let expected, let found):
            Explanation(
                what: "an adapter matrix is \(found), expected \(expected)", place: name,
                remedy: "use an adapter that was made for this base model and rank",
                status: .badData)
        case .scale(let expected, let found):
            Explanation(
                what: "the adapter's scale (alpha / rank) is \(found), the run's is \(expected)",
                remedy: "give the --alpha and --rank that the adapter was made with",
                status: .badData)
        case .layersWithGaps(let layers):
            Explanation(
                what: "the adapter's layers are not consecutive: \(layers)",
                remedy: "use an adapter of all layers or of a range of layers",
                status: .badData)
        case .notBlockDiagonal:
            Explanation(
                what: "the adapter's slices of a fused module depend on each other",
                remedy: "adapt the module as a whole: --target-modules with qkv_proj or "
                    + "gate_up_proj",
                status: .badData)
        }
    }
}

extension AdapterOutline {
    /// Checks that every matrix fits the weight of `model` that it is added to.
    ///
    /// - Throws: `FormatError.unexpectedTensor` for a layer that the model does not have, `.wrongShape`.
    package func check(against model: ModelConfiguration) throws {
        var weights: [String: [Int]] = [:]
        for (name, shape) in model.requiredTensors { weights[name] = shape }
        // Those of projections that share a tensor are not among these.
        for (layer, block) in model.design.blocks.enumerated() {
            for projection in block.projections where projection.rows != nil {
                weights[model.design.tensor(projection.name + ".weight", in: layer)] =
                    [projection.outputs, projection.inputs]
            }
        }
        for (text, found) in shapes.sorted(by: { $0.key < $1.key }) {
            guard let name = AdapterTensorName(text), let weight = weights[name.weightName],
                let out = weight.first, let input = weight.last
            else { throw FormatError.unexpectedTensor(path: path, tensor: text) }
            let rank = configuration.rank
            let expected = name.matrix == .a ? [rank, input] : [out, rank]
            guard found == expected else {
                throw FormatError.wrongShape(
                    path: path, tensor: text, expected: expected, found: found)
            }
        }
    }
}
