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

        /// A factor or a cap.
        static func positive(_ field: String, _ value: Float?) -> Demand {
            Demand(
                field, value.map { $0 > 0 && $0.isFinite } ?? true, value, "finite numbers above 0")
        }
    }

    /// Refuses a model whose design asks for what is not computed, naming the field.
    ///
    /// - Parameters:
    ///   - model: read from its description; the weights need not exist.
    ///   - path: the model's, for the error.
    /// - Throws: `EngineError.notComputed` for the first such field.
    package static func check(
        _ model: ModelConfiguration, of path: String
    ) throws(EngineError) {
        func refuse(_ demands: [Demand], layer: Int? = nil) throws(EngineError) {
            guard let demand = demands.first(where: { !$0.isComputed }) else { return }
            throw .notComputed(
                path: path, field: demand.field, layer: layer, found: demand.found,
                computed: demand.computed)
        }
        try refuse(demands(model))
        let separate = Projection.separate(model)
        for (layer, block) in model.design.blocks.enumerated() {
            try refuse(demands(block, separate, tables: model.design.rotaryTables), layer: layer)
        }
    }

    private static func demands(_ model: ModelConfiguration) -> [Demand] {
        let design = model.design
        let dimensions = design.rotaryTables.map(\.dimension)
        let areWhole = dimensions.allSatisfy {
            $0 > 0 && $0.isMultiple(of: 2) && $0 <= model.headDimension
        }
        return [
            Demand("normOffset", design.normOffset.isFinite, design.normOffset, "finite numbers"),
            .positive("embeddingMultiplier", design.embeddingMultiplier),
            .positive("logitsMultiplier", design.logitsMultiplier),
            .positive("logitsSoftCap", design.logitsSoftCap),
            Demand(
                "rotaryTables", areWhole, dimensions,
                "even numbers of elements up to \(model.headDimension)"),
            Demand(
                "blocks", design.blocks.count == model.layerCount, design.blocks.count,
                "one for each layer"),
        ]
    }

    private static func demands(
        _ block: BlockDesign, _ separate: [Projection], tables: [DecoderDesign.RotaryTable]
    ) -> [Demand] {
        // Compared by purpose, address and shape; names are the family's choice.
        let isSeparate = block.projections.elementsEqual(separate) {
            $0.module == $1.module && $0.address == $1.address && $0.inputs == $1.inputs
                && $0.outputs == $1.outputs
        }
        return [
            .positive("attentionScale", block.attentionScale),
            Demand(
                "window", block.window.map { $0 > 0 } ?? true, block.window,
                "windows of one token or more"),
            .positive("attentionSoftCap", block.attentionSoftCap),
            Demand(
                "rotaryTable", block.rotaryTable.map(tables.indices.contains) ?? true,
                block.rotaryTable, "one of the \(tables.count) tables"),
            .positive("residualMultiplier", block.residualMultiplier),
            Demand(
                "projections", isSeparate, block.projections.map(\.name),
                "\(separate.map(\.name)) at their addresses"),
        ]
    }
}
