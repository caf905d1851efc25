import SkeinTensors

/// The one list of what the engine does not compute. Who teaches it something new removes it here.
extension Engine {
    /// One field of a design.
    private struct Demand {
        let field: String
        let isComputed: Bool
        let found: String
        let computed: String

        init(_ field: String, _ isComputed: Bool, _ found: Any?, _ computed: String) {
            self.field = field
            self.isComputed = isComputed
            self.found = isComputed ? "" : found.map { "\($0)" } ?? "none"
            self.computed = computed
        }
    }

    /// Refuses a model whose design asks for what is not computed, naming the field.
    ///
    /// - Parameters:
    ///   - model: read from its description; the weights need not exist.
    ///   - text: the traits of its family.
    ///   - path: the model's, for the error.
    /// - Throws: `EngineError.notComputed` for the first such field.
    package static func check(
        _ model: ModelConfiguration, text: TextTraits, of path: String
    ) throws(EngineError) {
        func refuse(_ demands: [Demand], layer: Int? = nil) throws(EngineError) {
            guard let demand = demands.first(where: { !$0.isComputed }) else { return }
            throw .notComputed(
                path: path, field: demand.field, layer: layer, found: demand.found,
                computed: demand.computed)
        }
        try refuse(demands(text) + demands(model))
        let separate = Projection.separate(model)
        for (layer, block) in model.design.blocks.enumerated() {
            try refuse(demands(block, separate), layer: layer)
        }
    }

    private static func demands(_ text: TextTraits) -> [Demand] {
        [
            Demand(
                "composesCharacters", !text.composesCharacters, text.composesCharacters, "false"),
            Demand(
                "rewritesEarlierTurns", !text.rewritesEarlierTurns, text.rewritesEarlierTurns,
                "false"),
        ]
    }

    private static func demands(_ model: ModelConfiguration) -> [Demand] {
        let design = model.design
        let isOneTable =
            design.rotaryTables.count == 1
            && design.rotaryTables[0].dimension == model.headDimension
            && design.rotaryTables[0].longDivisors == nil
            && design.rotaryTables[0].attentionFactor == 1
        return [
            Demand("normOffset", design.normOffset == 0, design.normOffset, "0"),
            Demand(
                "embeddingMultiplier", design.embeddingMultiplier == 1, design.embeddingMultiplier,
                "1"),
            Demand("logitsMultiplier", design.logitsMultiplier == 1, design.logitsMultiplier, "1"),
            Demand("logitsSoftCap", design.logitsSoftCap == nil, design.logitsSoftCap, "none"),
            Demand(
                "rotaryTables", isOneTable, design.rotaryTables.map(\.dimension),
                "one, of the whole head"),
            Demand(
                "blocks", design.blocks.count == model.layerCount, design.blocks.count,
                "one for each layer"),
        ]
    }

    private static func demands(_ block: BlockDesign, _ separate: [Projection]) -> [Demand] {
        let norms = block.norms
        let isPreNorm =
            norms.beforeAttention != nil && norms.beforeFeedForward != nil
            && norms.afterAttention == nil && norms.afterFeedForward == nil
        let biased = block.projections.filter(\.hasBias).map(\.name)
        // Compared by purpose, address and shape; names are the family's choice.
        let isSeparate = block.projections.elementsEqual(separate) {
            $0.module == $1.module && $0.address == $1.address && $0.inputs == $1.inputs
                && $0.outputs == $1.outputs && $0.rows == nil
        }
        return [
            Demand(
                "norms", isPreNorm, norms.names, "those before attention and the feed-forward part"),
            Demand(
                "headNorms", block.headNorms == nil,
                block.headNorms.map { "\($0.query) and \($0.key)" }, "none"),
            Demand(
                "attentionScale", block.attentionScale == nil, block.attentionScale,
                "1 / sqrt(head dimension)"),
            Demand("window", block.window == nil, block.window, "full attention"),
            Demand(
                "attentionSoftCap", block.attentionSoftCap == nil, block.attentionSoftCap, "none"),
            Demand("rotaryTable", block.rotaryTable == 0, block.rotaryTable, "0"),
            Demand(
                "queryGrowth", block.queryGrowth == nil, block.queryGrowth.map { $0.beta }, "none"),
            Demand("activation", block.activation == .swiGLU, block.activation, "swiGLU"),
            Demand(
                "residualMultiplier", block.residualMultiplier == 1, block.residualMultiplier, "1"),
            Demand("hasBias", biased.isEmpty, biased, "matrices without one"),
            Demand(
                "projections", isSeparate, block.projections.map(\.name),
                "\(separate.map(\.name)) at their addresses"),
        ]
    }
}

extension BlockDesign {
    /// What `Engine.check` has found in every block.
    var computed: (inputNorm: String, middleNorm: String, rotaryTable: Int) {
        guard let input = norms.beforeAttention, let middle = norms.beforeFeedForward,
            let rotaryTable
        else { preconditionFailure("Engine.check refuses a block without these") }
        return (input, middle, rotaryTable)
    }
}

extension DecoderDesign {
    /// The tables themselves, for positions 0 ..< `positions`.
    func rotaryTables(positions: Int) -> [RotaryEmbedding] {
        rotaryTables.map {
            RotaryEmbedding(
                headDimension: $0.dimension, theta: $0.theta, divisors: $0.divisors,
                positions: positions)
        }
    }
}
