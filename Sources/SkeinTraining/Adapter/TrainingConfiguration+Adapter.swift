import SkeinFormats
import SkeinModels
import SkeinText

extension TrainingConfiguration {
    /// The options that an adapter to start from has an answer to.
    package enum AdapterOption: String, CaseIterable, Sendable {
        case rank
        case alpha
        case targetModules = "target-modules"
        case layers
        case dora
    }

    /// Takes rank, alpha, target modules, layers and whether it has magnitudes from the adapter to start
    /// from, as PEFT does: who goes on with an adapter need not repeat how it was made. An adapter
    /// whose modules differ has an answer to the last of them alone; the run may then refuse it.
    ///
    /// - Parameters:
    ///   - options: those that are not stated.
    ///   - open: opens the base model; called if there is an adapter and something to take from it.
    /// - Throws: `FormatError`, `FileError`, `AdapterError`.
    package mutating func take(
        _ options: Set<AdapterOption>, fromAdapterOf open: () throws -> ModelDirectory
    ) throws {
        guard let path = self.initAdapter, !options.isEmpty else { return }
        let model = try open()
        let adapter = try LoadedAdapter.read(path, for: model, matching: ModulePatterns.matching)
        let lora = adapter.parameters.shape.configuration
        // Only where it is: the option is not named by runs that began before it existed.
        if options.contains(.dora), lora.usesMagnitudes { self.dora = true }
        guard lora.exceptions.isEmpty else { return }
        if options.contains(.rank) { self.rank = lora.rank }
        // For the rank that is stated, if one is: what differs then is an error that names both.
        if options.contains(.alpha) {
            // As it is stated, unless the scale is made otherwise (rank-stabilized, MLX).
            let stated = adapter.configuration.alpha
            let divisor = scaleDivisor(rank: lora.rank)
            let isAsStated = Float(stated / divisor) == lora.scale
            self.alpha = isAsStated ? stated : Double(lora.scale) * divisor
        }
        if options.contains(.targetModules) { self.targetModules = lora.targets }
        if options.contains(.layers) {
            // If only the embedding and the head are adapted, any layers will do.
            let isWhole =
                lora.layers.isEmpty || lora.layers == 0..<model.configuration.layerCount
            self.layers =
                isWhole ? .all : .range(lora.layers.lowerBound...(lora.layers.upperBound - 1))
        }
    }
}
