import SkeinBasics

/// How a run with local steps goes on: `--local-steps` and the options that belong to it.
///
/// For slow links (DiLoCo: Douillard et al. 2023). K logical workers start a round from the same
/// parameters, and each takes H AdamW steps on rows of its own, with moments of its own. The average
/// of their changes is the gradient of one outer step with Nesterov momentum. A step of the run is
/// such a round.
package struct LocalSettings: Sendable, Equatable {
    /// Bounds of the options. A round's rows are in one message, and its results in memory at once.
    package static let mostSteps = 65536
    package static let mostWorkers = 1024
    package static let mostSaveInterval = 100
    /// Rounds between checkpoints when `--save-state-every` is not given.
    package static let usualSaveInterval = 10

    /// K and H.
    package let shape: LocalShape
    package let codec: DeltaCodec
    package let outer: OuterStep

    /// - Returns: nil for a run without local steps.
    /// - Throws: `TrainingError.badCombination`.
    package init?(_ configuration: TrainingConfiguration) throws(TrainingError) {
        try Self.check(configuration)
        guard let shape = configuration.localShape else { return nil }
        self.shape = shape
        codec = DeltaCodec(
            configuration.deltaCodec ?? .fp32, density: configuration.topkDensity ?? 1.0 / 32)
        outer = OuterStep(
            learningRate: configuration.outerLearningRate ?? 0.7,
            momentum: configuration.outerMomentum ?? 0.9)
    }

    /// - Throws: `TrainingError.badCombination` for options that exclude or need each other.
    private static func check(_ configuration: TrainingConfiguration) throws(TrainingError) {
        func name<Value>(_ path: KeyPath<RecipeOptions, Option<Value>>) -> String {
            RecipeOptions.table[keyPath: path].description.name
        }
        let own = name(\.localSteps)
        guard configuration.localSteps != nil else {
            let saving = MachineOptions.table.saveStateEvery.description.name
            for (given, flag) in [
                (configuration.logicalWorkers != nil, name(\.logicalWorkers)),
                (configuration.deltaCodec != nil, name(\.deltaCodec)),
                (configuration.topkDensity != nil, name(\.topkDensity)),
                (configuration.outerLearningRate != nil, name(\.outerLearningRate)),
                (configuration.outerMomentum != nil, name(\.outerMomentum)),
                (configuration.saveStateEvery != nil, saving),
            ] where given {
                throw .badCombination(flag: flag, problem: .needs(own))
            }
            return
        }
        guard configuration.logicalWorkers != nil else {
            throw .badCombination(flag: own, problem: .needs(name(\.logicalWorkers)))
        }
        guard configuration.topkDensity == nil || configuration.deltaCodec == .topk else {
            throw .badCombination(
                flag: name(\.topkDensity), problem: .needs("\(name(\.deltaCodec)) topk"))
        }
        guard configuration.slots == nil else {
            throw .badCombination(flag: name(\.slots), problem: .excludes(own))
        }
        guard configuration.gradientCodec == .fp32 else {
            throw .badCombination(flag: name(\.gradientCodec), problem: .excludes(own))
        }
    }
}

extension TrainingConfiguration {
    /// H and K of a run with local steps; nil for any other.
    var localShape: LocalShape? {
        guard let steps = self.localSteps, let workers = self.logicalWorkers else { return nil }
        return LocalShape(steps: steps, workers: workers)
    }
}
