import SkeinTensors

/// How one block of a decoder computes: a family states it, the engine reads it.
///
/// A family can state more than is computed: `Engine.check` refuses the rest by the field's name.
/// Names of tensors are without the block's prefix and ".weight".
package struct BlockDesign: Sendable, Equatable {
    /// The norms by their place; nil: none there.
    package struct Norms: Sendable, Equatable {
        package var beforeAttention: String?
        /// Applied to what attention adds to the residual stream.
        package var afterAttention: String?
        package var beforeFeedForward: String?
        /// Applied to what the feed-forward part adds to the residual stream.
        package var afterFeedForward: String?

        /// All norms that exist.
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

    /// Growth of queries with their position, after they are rotated:
    /// q becomes q (1 + beta ln(1 + floor(position / original))).
    package struct QueryGrowth: Sendable, Equatable {
        package var beta: Float
        /// Tokens that a row may have without it; at least 1.
        package var original: Int
    }

    package var norms: Norms
    package var headNorms: HeadNorms?
    /// Factor of q k^T; nil: 1 / sqrt(N).
    package var attentionScale: Float?
    /// Tokens that a token sees, itself included; nil: all before it.
    package var window: Int?
    /// c: a score s becomes c tanh(s / c); nil: it stays.
    package var attentionSoftCap: Float?
    /// Which of `DecoderDesign.rotaryTables` rotates q and k; nil: neither is rotated.
    package var rotaryTable: Int?
    /// nil: queries do not grow.
    package var queryGrowth: QueryGrowth?
    /// How gate and up are combined.
    package var activation: GatedActivation
    /// Factor of what attention and the feed-forward part add to the residual stream.
    package var residualMultiplier: Float
    /// In the order of an adapter's file and flat vector.
    package var projections: [Projection]

    /// A block with norms before attention and before the feed-forward part, and nothing special.
    package init(norms: Norms, projections: [Projection]) {
        self.norms = norms
        headNorms = nil
        attentionScale = nil
        window = nil
        attentionSoftCap = nil
        rotaryTable = 0
        queryGrowth = nil
        activation = .swiGLU
        residualMultiplier = 1
        self.projections = projections
    }

    /// Rows of a tensor that several projections share: it ends with the last row of theirs.
    func rows(ofFused tensor: String) -> Int {
        projections.reduce(0) {
            max($0, $1.tensor == tensor ? $1.rows?.upperBound ?? $1.outputs : 0)
        }
    }

    /// The name of a module in an adapter's file, such as "self_attn.q_proj"; nil: the block has none
    /// of this kind.
    package func name(of target: TargetModule) -> String? {
        if let own = projections.first(where: { $0.module == target }) { return own.name }
        return projections.first { target.parts.contains($0.module) && $0.fused != nil }?.fused
    }

    /// Whether what attention and the feed-forward part add to the residual stream are their last
    /// products as they are.
    package var addsProducts: Bool {
        norms.afterAttention == nil && norms.afterFeedForward == nil && residualMultiplier == 1
    }

    /// The index of each `TargetModule` in `projections` and in what is kept in the same order, by
    /// raw value; -1 for a missing one, which `Engine.check` refuses.
    ///
    /// Made once for each layer: the engines look it up for each product.
    package var places: [Int] {
        TargetModule.allCases.map { module in
            projections.firstIndex { $0.module == module } ?? -1
        }
    }
}

/// A matrix of a block that an adapter can be added to, [outputs, inputs].
package struct Projection: Sendable, Equatable {
    /// Its purpose.
    package var module: TargetModule
    /// 0 ..< 8: addresses, with the layer, its dropout masks and its initial numbers. It is part of
    /// every hash and never changes.
    package var address: Int
    /// Its name in an adapter's file, such as "self_attn.q_proj"; `ModelDirectory` knows its matrix
    /// by this name, even when that is a part of `tensor`.
    package var name: String
    package var inputs: Int
    package var outputs: Int
    /// Whether a vector [outputs] is added to its product.
    package var hasBias: Bool
    /// The name of the tensor that holds it; other than `name` if several projections share one.
    package var tensor: String
    /// Its rows of `tensor`; nil: all of them.
    package var rows: Range<Int>?

    /// `tensor`: nil for `name`. `rows`: nil for all of the tensor's.
    package init(
        module: TargetModule, address: Int, name: String, inputs: Int, outputs: Int, hasBias: Bool,
        tensor: String? = nil, rows: Range<Int>? = nil
    ) {
        self.module = module
        self.address = address
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.hasBias = hasBias
        self.tensor = tensor ?? name
        self.rows = rows
    }

    /// The module that holds this projection and others, such as "self_attn.qkv_proj"; nil: it is a
    /// module by itself.
    package var fused: String? { rows == nil ? nil : tensor }

    /// Gives a module by itself another name in the folder and in an adapter's file.
    mutating func rename(_ name: String) {
        precondition(fused == nil, "\(self.name) is a part of \(tensor)")
        self.name = name
        tensor = name
    }

    /// The seven matrices of a block with separate query, key, value, gate and up, under their
    /// Hugging Face names.
    package static func separate(
        _ model: ModelConfiguration, biased: Set<TargetModule> = []
    ) -> [Projection] {
        TargetModule.allCases.map { module in
            let (inputs, outputs) = model.sizes(of: module)
            return Projection(
                module: module, address: module.rawValue,
                name: "\(module < .gate ? "self_attn" : "mlp").\(module.name)", inputs: inputs,
                outputs: outputs, hasBias: biased.contains(module))
        }
    }

    /// The same seven, of which some lie one after the other in a tensor; `tensors`: its name by what
    /// it holds.
    package static func fused(
        _ model: ModelConfiguration, _ tensors: [TargetModule: String],
        biased: Set<TargetModule> = []
    ) -> [Projection] {
        var projections = separate(model, biased: biased)
        for (fused, tensor) in tensors {
            var first = 0
            for part in fused.parts {
                let count = projections[part.rawValue].outputs
                projections[part.rawValue].tensor = tensor
                projections[part.rawValue].rows = first..<first + count
                first += count
            }
        }
        return projections
    }
}

extension ModelConfiguration {
    /// Columns and rows of a projection's matrix, or of one that holds several.
    package func sizes(of module: TargetModule) -> (inputs: Int, outputs: Int) {
        let queries = headCount * headDimension
        let keys = keyValueHeadCount * headDimension
        return switch module {
        case .query: (width, queries)
        case .key, .value: (width, keys)
        case .output: (queries, width)
        case .gate, .up: (width, feedForwardWidth)
        case .down: (feedForwardWidth, width)
        case .queryKeyValue: (width, queries + 2 * keys)
        case .gateUp: (width, 2 * feedForwardWidth)
        case .embedding: (vocabularySize, width)
        case .head: (width, vocabularySize)
        }
    }
}
