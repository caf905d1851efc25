import SkeinBasics
import SkeinModels
import SkeinTraining

/// All that shapes the result of a run, besides the bytes of model, data and starting adapter. Two
/// runs with equal recipes over the same bytes end with the same adapter, wherever they are computed.
///
/// The defaults are those of `skein train`. Values are checked when a run begins.
public struct Recipe: Sendable, Equatable {
    /// All but `targetModules`.
    private var configuration = TrainingConfiguration()

    public init() {}

    // MARK: Adapter

    /// Rows of A and columns of B; 1 to 1024.
    public var rank: Int {
        get { configuration.rank }
        set { configuration.rank = newValue }
    }

    /// Strength: the adapter's part is scaled by `alpha / rank`; above 0, at most 65536.
    public var alpha: Double {
        get { configuration.alpha }
        set { configuration.alpha = newValue }
    }

    /// Probability that an element of the adapter's input is dropped; from 0.
    public var dropout: Double {
        get { configuration.dropout }
        set { configuration.dropout = newValue }
    }

    /// Projections that get an adapter, by their Hugging Face names, in any order.
    public var targetModules = TrainingConfiguration().targetModules.map(\.name)

    /// Decoder blocks that get an adapter.
    public var layers: Layers {
        get { Layers(configuration.layers) }
        set { configuration.layers = newValue.selection }
    }

    // MARK: Optimizer

    /// AdamW's step size; above 0, at most 10.
    public var learningRate: Double {
        get { configuration.learningRate }
        set { configuration.learningRate = newValue }
    }

    /// Decoupled decay of A and B; 0 to 10.
    public var weightDecay: Double {
        get { configuration.weightDecay }
        set { configuration.weightDecay = newValue }
    }

    /// Decay of the mean gradient; from 0 to below 1.
    public var beta1: Double {
        get { configuration.beta1 }
        set { configuration.beta1 = newValue }
    }

    /// Decay of the mean squared gradient; from 0 to below 1.
    public var beta2: Double {
        get { configuration.beta2 }
        set { configuration.beta2 = newValue }
    }

    /// Added to the root of that mean; 1e-30 to 1.
    public var epsilon: Double {
        get { configuration.epsilon }
        set { configuration.epsilon = newValue }
    }

    /// How the learning rate goes on after the warm-up.
    public var schedule: Schedule {
        get { Schedule(configuration.schedule) }
        set { configuration.schedule = newValue.value }
    }

    /// Steps over which the learning rate rises from 0.
    public var warmupSteps: Int {
        get { configuration.warmupSteps }
        set { configuration.warmupSteps = newValue }
    }

    /// Longer gradients are scaled to this norm; 0 switches it off.
    public var maxGradNorm: Double {
        get { configuration.maxGradNorm }
        set { configuration.maxGradNorm = newValue }
    }

    // MARK: Plan

    /// Passes over the training rows.
    public var epochs: Int {
        get { configuration.epochs }
        set { configuration.epochs = newValue }
    }

    /// Steps of the run, whatever the epochs; nil: all epochs.
    public var iterations: Int? {
        get { configuration.iterations }
        set { configuration.iterations = newValue }
    }

    /// Rows of an optimizer step.
    public var batchSize: Int {
        get { configuration.batchSize }
        set { configuration.batchSize = newValue }
    }

    /// Tokens that are computed together, at least one row.
    public var microBatchTokens: Int {
        get { configuration.microBatchTokens }
        set { configuration.microBatchTokens = newValue }
    }

    /// Threads of all workers that steps are cut for; nil: for any number.
    public var slots: Int? {
        get { configuration.slots }
        set { configuration.slots = newValue }
    }

    /// Ends after so many validations without a better loss; nil: never.
    public var earlyStopPatience: Int? {
        get { configuration.earlyStopPatience }
        set { configuration.earlyStopPatience = newValue }
    }

    /// Seed of the split, the row order, the initial A and dropout; 0 or more.
    public var seed: Int {
        get { configuration.seed }
        set { configuration.seed = newValue }
    }

    // MARK: Data

    /// Tokens of a row; a longer one is cut at the right.
    public var maxLength: Int {
        get { configuration.maxLength }
        set { configuration.maxLength = newValue }
    }

    /// Another order of the rows in each epoch.
    public var shuffle: Bool {
        get { configuration.shuffle }
        set { configuration.shuffle = newValue }
    }

    /// Share of the rows that is kept for validation when there are no rows for it; from 0 to below
    /// 1.
    public var validationSplit: Double {
        get { configuration.validationSplit }
        set { configuration.validationSplit = newValue }
    }

    /// How a row becomes text.
    public var promptFormat: PromptFormat {
        get { PromptFormat(configuration.promptFormat) }
        set { configuration.promptFormat = newValue.value }
    }

    /// Assistant turns of a conversation that carry loss.
    public var trainOn: TrainedTurns {
        get { TrainedTurns(configuration.trainOn) }
        set { configuration.trainOn = newValue.value }
    }

    // MARK: Numbers

    /// Precision of a micro-batch's gradient.
    public var gradientCodec: Precision {
        get { Precision(configuration.gradientCodec) }
        set { configuration.gradientCodec = newValue.value }
    }

    /// Precision of the products with frozen weights.
    public var compute: Compute {
        get { Compute(configuration.compute) }
        set { configuration.compute = newValue.value }
    }
}

extension Recipe {
    /// SHA-256 of the recipe, in hexadecimal: `configuration_sha256` of run.json.
    ///
    /// - Throws: `SkeinError` for a value that is not allowed.
    public func sha256() throws -> String {
        try SkeinError.wrapping { try checked().digest.description }
    }

    /// The options of the rooms below.
    ///
    /// - Throws: `TrainingError.badOption`.
    func checked() throws -> TrainingConfiguration {
        var configuration = configuration
        try configuration.set("target-modules", to: targetModules.joined(separator: ","))
        try configuration.validate()
        return configuration
    }
}
