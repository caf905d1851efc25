import SkeinBasics
import SkeinModels
import SkeinTensors

/// Replaces options that were left to a run by numbers, as soon as what they follow from is known.
struct ResolvingOptions {
    private let automatic: Set<MeasuredOption>
    private(set) var found: [ResolvedOption] = []

    init(_ automatic: Set<MeasuredOption>) { self.automatic = automatic }

    /// - Parameters:
    ///   - configuration: gets the learning rate.
    ///   - width: of the model.
    /// - Throws: `TrainingError` where the rate does not go with other options.
    mutating func resolveRate(
        of configuration: inout TrainingConfiguration, width: Int
    ) throws(TrainingError) {
        guard automatic.contains(.learningRate) else { return }
        configuration.learningRate = RecipeDefaults.learningRate(
            width: width, loss: configuration.loss)
        let loss = configuration.loss.map { ", --loss \($0.rawValue)" } ?? ""
        note(.learningRate, of: configuration, "a model \(width) wide\(loss)")
        try configuration.checkRecipe()
    }

    /// - Parameters:
    ///   - configuration: gets the number of epochs, unless the steps are given.
    ///   - rows: of an epoch.
    mutating func resolveEpochs(of configuration: inout TrainingConfiguration, rows: Int) {
        guard automatic.contains(.epochs), configuration.iterations == nil else { return }
        configuration.epochs = RecipeDefaults.epochs(
            rows: rows, batchSize: configuration.batchSize * (configuration.logicalWorkers ?? 1),
            loss: configuration.loss)
        note(.epochs, of: configuration, Figures.count(rows, "row"))
    }

    /// - Parameters:
    ///   - configuration: gets the steps of the warm-up.
    ///   - steps: of the run, as its schedule counts them.
    mutating func resolveWarmup(of configuration: inout TrainingConfiguration, steps: Int) {
        guard automatic.contains(.warmupSteps), configuration.warmupRatio == nil else { return }
        configuration.warmupSteps = RecipeDefaults.warmupSteps(stepCount: steps)
        let kind = configuration.localSteps == nil ? "step" : "local step"
        note(.warmupSteps, of: configuration, Figures.count(steps, kind))
    }

    private mutating func note(
        _ option: MeasuredOption, of configuration: TrainingConfiguration,
        _ reason: String
    ) {
        let text = configuration.recipe.text(of: option.option) ?? ""
        found.append(ResolvedOption(name: option.rawValue, text: text, reason: reason))
    }
}
