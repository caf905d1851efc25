import SkeinBasics
import SkeinFormats

/// A small model with made-up weights that computes as a given one does: one block of each kind of its
/// design, with its heads' dimension and its proportion of queries to keys. It goes through the same
/// kernels in some milliseconds, so that two machines can compare what they make of it.
///
/// Its numbers are a function of the design and of the sizes below alone.
package struct ProbeModel: WeightSource {
    package let configuration: ModelConfiguration
    package let path: String
    private let tensors: [String: TensorView]

    /// Tokens of its longest row; windows and what grows with the position begin within.
    package static let positions = 24

    private static let kinds = 4
    private static let window = 7
    private static let vocabulary = 320
    /// Elements of the residual stream and of the feed-forward part, to which is added what exceeds a
    /// multiple of `unit` in the model: kernels treat the rest of a row by itself.
    private static let (width, feedForward, unit) = (192, 320, 64)

    /// - Parameters:
    ///   - model: whose design is taken.
    ///   - path: of the model, for errors.
    package init(like model: ModelConfiguration, path: String) {
        var small = model
        small.width = Self.width + model.width % Self.unit
        small.feedForwardWidth = Self.feedForward + model.feedForwardWidth % Self.unit
        small.vocabularySize = Self.vocabulary
        small.headCount = min(model.headCount / model.keyValueHeadCount, 8)
        small.keyValueHeadCount = 1
        var kinds: [BlockDesign] = []
        for block in model.design.blocks where !kinds.contains(block) && kinds.count < Self.kinds {
            kinds.append(block)
        }
        small.layerCount = kinds.count
        small.design.blocks = kinds.map { Self.fitted($0, to: small) }
        configuration = small
        self.path = path
        var tensors: [String: TensorView] = [:]
        for (index, (name, shape)) in small.requiredTensors.enumerated() {
            tensors[name] = TensorView(
                name: name, shape: shape,
                values: Self.values(shape, index, normOffset: small.design.normOffset), path: path)
        }
        self.tensors = tensors.merging(ModelDirectory.parts(of: tensors, small.design)) { $1 }
    }

    /// The block with projections of the small sizes.
    private static func fitted(_ block: BlockDesign, to small: ModelConfiguration) -> BlockDesign {
        var block = block
        block.window = block.window.map { min($0, window) }
        if let growth = block.queryGrowth {
            block.queryGrowth?.original = min(growth.original, window)
        }
        var ends: [String: Int] = [:]
        // Those that share a tensor lie in it as before, one after the other.
        let order = block.projections.indices.sorted {
            (block.projections[$0].rows?.lowerBound ?? 0)
                < (block.projections[$1].rows?.lowerBound ?? 0)
        }
        for index in order {
            let (inputs, outputs) = small.sizes(of: block.projections[index].module)
            block.projections[index].inputs = inputs
            block.projections[index].outputs = outputs
            guard block.projections[index].rows != nil else { continue }
            let first = ends[block.projections[index].tensor] ?? 0
            block.projections[index].rows = first..<(first + outputs)
            ends[block.projections[index].tensor] = first + outputs
        }
        return block
    }

    /// Numbers in -1 ..< 1, of matrices divided by the root of their columns; of vectors, which are
    /// norms and biases, near 1 once the design's offset is added.
    private static func values(_ shape: [Int], _ tensor: Int, normOffset: Float) -> [Float] {
        let random = AddressedRandom(seed: 0, purpose: .benchmark)
        let isMatrix = shape.count > 1
        let bound = isMatrix ? 1 / Float(shape.last ?? 1).squareRoot() : 0.25
        let count = shape.reduce(1, *)
        return [Float](unsafeUninitializedCapacity: count) { buffer, initialized in
            for first in stride(from: 0, to: count, by: 4) {
                let words = random.block(UInt32(first / 4), UInt32(tensor))
                for index in first..<min(first + 4, count) {
                    let unit = 2 * AddressedRandom.unitFloat(words[index - first]) - 1
                    buffer.initializeElement(
                        at: index, to: unit * bound + (isMatrix ? 0 : 1 - normOffset))
                }
            }
            initialized = count
        }
    }

    package func tensor(_ name: String) throws -> TensorView {
        guard let view = tensors[name] else {
            throw FormatError.missingTensor(path: path, tensor: name)
        }
        return view
    }

    package func releasePages() {}
}
