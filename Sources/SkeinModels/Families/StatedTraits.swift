import SkeinTensors

/// What a model's files state of its blocks beyond sizes, in the same words whatever the format.
///
/// Families make their designs of it.
package struct StatedTraits: Sendable, Equatable {
    /// The window of each layer; nil: none. Empty: no layer has one.
    package var windows: [Int?] = []
    /// Empty: one of the whole head, with `ropeTheta` and `ropeFrequencyDivisors`.
    package var rotations: [DecoderDesign.RotaryTable] = []
    /// The index of each layer's rotation; nil: not rotated. Empty: the first.
    package var rotationOfLayer: [Int?] = []
    package var queryGrowth: BlockDesign.QueryGrowth?
    package var attentionScale: Float?
    package var attentionSoftCap: Float?
    package var logitsSoftCap: Float?
    package var embeddingMultiplier: Float = 1
    package var residualMultiplier: Float = 1
    package var logitsMultiplier: Float = 1
    /// Projections with a bias.
    package var biased: Set<TargetModule> = []
}

extension ModelConfiguration {
    /// Keeps the windows, unless no layer has one.
    mutating func setWindows(_ window: Int?, of isWindowed: [Bool]) {
        // A window as long as the context hides nothing.
        guard let window, window < contextLength, isWindowed.contains(true) else { return }
        stated.windows = isWindowed.map { $0 ? window : nil }
    }

    /// Keeps the rotations; `local`: of those layers that are of the type "sliding_attention".
    ///
    /// One rotation of whole heads without further numbers is what the older fields say.
    mutating func setRotations(
        _ table: DecoderDesign.RotaryTable, local: DecoderDesign.RotaryTable?, isLocal: [Bool],
        isRotated: [Bool]
    ) {
        ropeTheta = table.theta
        ropeFrequencyDivisors = table.divisors
        let tables = [table] + [local].compactMap { $0 }.filter { $0 != table }
        if tables != [plainRotation] { stated.rotations = tables }
        let places = zip(isLocal, isRotated).map { isLocal, isRotated -> Int? in
            isRotated ? (isLocal ? tables.count - 1 : 0) : nil
        }
        if places.contains(where: { $0 != 0 }) { stated.rotationOfLayer = places }
    }

    private var plainRotation: DecoderDesign.RotaryTable {
        DecoderDesign.RotaryTable(
            theta: ropeTheta, divisors: ropeFrequencyDivisors, dimension: headDimension)
    }

    /// Blocks with these norms, and in everything else as the files state it.
    ///
    /// `projections`: nil for seven separate ones.
    func design(
        norms: BlockDesign.Norms, headNorms: BlockDesign.HeadNorms? = nil,
        activation: GatedActivation = .swiGLU, projections: [Projection]? = nil
    ) -> DecoderDesign {
        var block = BlockDesign(
            norms: norms,
            projections: projections ?? Projection.separate(self, biased: stated.biased))
        block.headNorms = headNorms
        block.activation = activation
        block.attentionScale = stated.attentionScale
        block.attentionSoftCap = stated.attentionSoftCap
        block.queryGrowth = stated.queryGrowth
        block.residualMultiplier = stated.residualMultiplier
        var design = DecoderDesign()
        design.embeddingMultiplier = stated.embeddingMultiplier
        design.logitsMultiplier = stated.logitsMultiplier
        design.logitsSoftCap = stated.logitsSoftCap
        design.rotaryTables = stated.rotations.isEmpty ? [plainRotation] : stated.rotations
        design.blocks = (0..<layerCount).map { layer in
            var block = block
            if !stated.windows.isEmpty { block.window = stated.windows[layer] }
            if !stated.rotationOfLayer.isEmpty { block.rotaryTable = stated.rotationOfLayer[layer] }
            return block
        }
        return design
    }
}
