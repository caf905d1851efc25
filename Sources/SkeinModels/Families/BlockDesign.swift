/// How one block of a decoder computes: a family states it, the engine reads it.
///
/// Not everything that can be stated is computed: `Engine.check` refuses the rest by the field's name.
/// Names of tensors are what follows the block's own prefix, without ".weight".
package struct BlockDesign: Sendable, Equatable {
    /// Which norms there are, by where they stand; nil: none there.
    package struct Norms: Sendable, Equatable {
        package var beforeAttention: String?
        /// On what attention adds to the residual stream.
        package var afterAttention: String?
        package var beforeFeedForward: String?
        /// On what the feed-forward part adds to the residual stream.
        package var afterFeedForward: String?

        /// All that there are.
        package var names: [String] {
            [beforeAttention, afterAttention, beforeFeedForward, afterFeedForward].compactMap { $0 }
        }
    }

    /// Norms of queries and keys, before they are rotated.
    package struct HeadNorms: Sendable, Equatable {
        package enum Extent: Sendable {
            /// Each head by itself, with one weight of [N] for all.
            case head
            /// All heads together, with a weight of the projection's rows.
            case projection
        }

        package var query: String
        package var key: String
        package var extent: Extent
    }

    /// What becomes of gate and up.
    package enum Activation: Sendable {
        /// silu(gate) * up.
        case swiGLU
        /// gelu(gate) * up, with the tanh approximation.
        case geGLU
    }

    package var norms: Norms
    package var headNorms: HeadNorms?
    /// Factor of q k^T; nil: 1 / sqrt(N).
    package var attentionScale: Float?
    /// Tokens that a token sees, itself included; nil: all before it.
    package var window: Int?
    /// c: a score s becomes c tanh(s / c); nil: it stays.
    package var attentionSoftCap: Float?
    /// Which of `DecoderDesign.rotaryTables` turns q and k; nil: positions are not told.
    package var rotaryTable: Int?
    package var activation: Activation
    /// Factor of what attention and the feed-forward part add to the residual stream.
    package var residualMultiplier: Float
    /// In the order of an adapter's file and flat vector.
    package var projections: [Projection]

    /// A block that norms before attention and before the feed-forward part, and asks for nothing else.
    package init(norms: Norms, projections: [Projection]) {
        self.norms = norms
        headNorms = nil
        attentionScale = nil
        window = nil
        attentionSoftCap = nil
        rotaryTable = 0
        activation = .swiGLU
        residualMultiplier = 1
        self.projections = projections
    }

    /// Where each `TargetModule` stands in `projections` and in what is kept beside them, by raw value;
    /// -1 for one that there is not, which `Engine.check` refuses.
    ///
    /// Made once for each layer: the engines look it up for each product.
    var places: [Int] {
        TargetModule.allCases.map { module in
            projections.firstIndex { $0.module == module } ?? -1
        }
    }
}

/// A matrix of a block that an adapter can be added to, [outputs, inputs].
package struct Projection: Sendable, Equatable {
    /// What it is for.
    package var module: TargetModule
    /// 0 ..< 8: with the layer the address of its dropout masks and of its first numbers. It is part of
    /// every hash and never moves.
    package var address: Int
    /// Of the tensor, such as "self_attn.q_proj".
    package var name: String
    package var inputs: Int
    package var outputs: Int
    /// A vector [outputs] is added to its product.
    package var hasBias: Bool

    /// The seven matrices of a block that keeps query, key, value, gate and up apart, under the names
    /// that Hugging Face gives them.
    package static func separate(
        _ model: ModelConfiguration, biased: Set<TargetModule> = []
    ) -> [Projection] {
        let (width, forward) = (model.width, model.feedForwardWidth)
        let queries = model.headCount * model.headDimension
        let keys = model.keyValueHeadCount * model.headDimension
        return TargetModule.allCases.map { module in
            let (inputs, outputs) =
                switch module {
                case .query: (width, queries)
                case .key, .value: (width, keys)
                case .output: (queries, width)
                case .gate, .up: (width, forward)
                case .down: (forward, width)
                }
            return Projection(
                module: module, address: module.rawValue,
                name: "\(module < .gate ? "self_attn" : "mlp").\(module.name)", inputs: inputs,
                outputs: outputs, hasBias: biased.contains(module))
        }
    }
}
