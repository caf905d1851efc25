/// A projection of a decoder block that can carry a LoRA adapter, in the order of the flat vector,
/// a module that some models store in place of several, or one of the two outside the blocks.
package enum TargetModule: Int, Sendable, CaseIterable, Comparable {
    case query
    case key
    case value
    case output
    case gate
    case up
    case down
    /// Query, key and value as one module with one A.
    case queryKeyValue
    /// Gate and up as one module with one A.
    case gateUp
    /// The tokens' embedding.
    case embedding
    /// From the last norm to the logits.
    case head

    /// The seven projections of every block, without the modules that hold several.
    package static let allCases: [TargetModule] = [
        .query, .key, .value, .output, .gate, .up, .down,
    ]
    /// Modules that hold several projections: some families store these as one tensor.
    package static let fused: [TargetModule] = [.queryKeyValue, .gateUp]
    /// What is outside the blocks: every model has each once.
    package static let edges: [TargetModule] = [.embedding, .head]

    /// Whether it is outside the blocks.
    package var isEdge: Bool { Self.edges.contains(self) }

    /// The projections that it holds, in the order of their rows; itself for one projection.
    package var parts: [TargetModule] {
        switch self {
        case .queryKeyValue: [.query, .key, .value]
        case .gateUp: [.gate, .up]
        default: [self]
        }
    }

    /// The Hugging Face name, as in flags and files.
    package var name: String {
        switch self {
        case .query: "q_proj"
        case .key: "k_proj"
        case .value: "v_proj"
        case .output: "o_proj"
        case .gate: "gate_proj"
        case .up: "up_proj"
        case .down: "down_proj"
        case .queryKeyValue: "qkv_proj"
        case .gateUp: "gate_up_proj"
        case .embedding: "embed_tokens"
        case .head: "lm_head"
        }
    }

    package init?(name: String) {
        let all = Self.allCases + Self.fused + Self.edges
        guard let match = all.first(where: { $0.name == name }) else { return nil }
        self = match
    }

    package static func < (left: TargetModule, right: TargetModule) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Which projections are adapted, and how strongly.
///
/// y = W x + scale * B (A dropout(x)), scale = alpha / rank (Hu et al. 2021, "LoRA", section 4.1), or
/// alpha / sqrt(rank) for a rank-stabilized adapter. With magnitudes m (DoRA, Liu et al. 2024) row i of
/// W + scale * B A has the length m[i]: y = m / ||W + scale * B A|| * (W x + scale * B (A dropout(x))).
package struct LoRAConfiguration: Sendable, Equatable {
    /// Rows of A, columns of B.
    package var rank: Int
    package var scale: Float
    /// Probability in 0 ..< 1 that an element of x is dropped on the adapter's path.
    package var dropout: Float
    /// Ascending, without repetition.
    package var targets: [TargetModule]
    /// Adapted layers, counted from 0.
    package var layers: Range<Int>
    /// Where it is otherwise: with another rank or scale, or, nil, no adapter at all. A run has those of
    /// its patterns; an adapter from another tool may have any.
    package var exceptions: [Place: Strength?]
    /// Whether each module has a magnitude for each row of its weight (DoRA).
    package var usesMagnitudes: Bool

    package init(
        rank: Int, scale: Float, dropout: Float, targets: [TargetModule], layers: Range<Int>,
        exceptions: [Place: Strength?] = [:], usesMagnitudes: Bool = false
    ) {
        self.rank = rank
        self.scale = scale
        self.dropout = dropout
        self.targets = targets.sorted()
        self.layers = layers
        self.exceptions = exceptions
        self.usesMagnitudes = usesMagnitudes
    }

    /// A module of a layer, or one outside the layers.
    package struct Place: Sendable, Hashable {
        /// -1 outside the layers.
        package var layer: Int
        package var module: TargetModule

        package init(layer: Int, module: TargetModule) {
            precondition(!module.isEdge, "\(module.name) is in no layer")
            self.layer = layer
            self.module = module
        }

        /// `edge`: one of `TargetModule.edges`.
        package init(edge: TargetModule) {
            precondition(edge.isEdge, "\(edge.name) is in a layer")
            layer = -1
            module = edge
        }
    }

    package struct Strength: Sendable, Equatable {
        package var rank: Int
        package var scale: Float

        package init(rank: Int, scale: Float) {
            self.rank = rank
            self.scale = scale
        }
    }

    /// Rank and scale of a module's adapter; nil where there is none.
    package func strength(of module: TargetModule, in layer: Int) -> Strength? {
        if let exception = exceptions[Place(layer: layer, module: module)] { return exception }
        guard layers.contains(layer), targets.contains(module) else { return nil }
        return Strength(rank: rank, scale: scale)
    }

    /// The same of one of `TargetModule.edges`, whatever the layers.
    package func strength(ofEdge module: TargetModule) -> Strength? {
        if let exception = exceptions[Place(edge: module)] { return exception }
        return targets.contains(module) ? Strength(rank: rank, scale: scale) : nil
    }

    /// Rank and scale at a place; nil where there is no adapter.
    package func strength(at place: Place) -> Strength? {
        place.module.isEdge
            ? strength(ofEdge: place.module) : strength(of: place.module, in: place.layer)
    }

    /// Those of the module that holds `part` and others and is adapted as a whole, with one A.
    func strength(ofModuleOf part: TargetModule, in layer: Int) -> Strength? {
        for module in TargetModule.fused where module.parts.contains(part) {
            if let strength = strength(of: module, in: layer) { return strength }
        }
        return nil
    }

    /// The largest of all ranks.
    package var largestRank: Int {
        exceptions.values.reduce(rank) { max($0, $1?.rank ?? 0) }
    }
}
