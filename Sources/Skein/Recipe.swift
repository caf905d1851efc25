import SkeinBasics
import SkeinModels
import SkeinTraining

/// What shapes the result of a run, besides the bytes of model, data and starting adapter. Runs
/// with equal recipes on equal bytes end with the same adapter, wherever they are computed.
///
/// The defaults are those of `skein train`. Values are checked when a run begins.
public struct Recipe: Sendable, Equatable {
    /// All but `targetModules`. `RecipeOptions` declares names, defaults and ranges.
    var values = OptionValues<RecipeOptions>()

    /// Options that nothing has been said about: a run that goes on has its own, and a new one finds some of
    /// them from its model and rows.
    private(set) var unnamed = Set(MeasuredOption.allCases)

    public init() {}

    /// The recipe in the options of a recorded run, all of which were given but `unnamed`.
    init(
        _ configuration: TrainingConfiguration,
        unnamed: Set<MeasuredOption> = []
    ) {
        values = configuration.recipe
        targetModules = configuration.targetModules.map(\.name)
        self.unnamed = unnamed
    }

    /// The defaults, with rank, alpha, target modules and layers of an adapter to start from. Reads
    /// the adapter on the calling thread.
    ///
    /// - Throws: `SkeinError` if the adapter is missing, damaged or of another kind of model.
    public init(continuing adapter: Adapter, of model: Model) throws {
        self = try SkeinError.wrapping {
            var configuration = TrainingConfiguration()
            configuration.inputs.initAdapter = adapter.path
            try configuration.take(Set(TrainingConfiguration.AdapterOption.allCases)) {
                model.directory
            }
            return Recipe(configuration, unnamed: Set(MeasuredOption.allCases))
        }
    }

    /// The value of an option, nil if it is left to the run.
    private func given<Value>(
        _ option: MeasuredOption, _ path: KeyPath<RecipeOptions, SkeinBasics.Option<Value>>
    ) -> Value? {
        unnamed.contains(option) ? nil : values[dynamicMember: path]
    }

    /// Sets an option; nil leaves it to the run.
    private mutating func give<Value>(
        _ option: MeasuredOption, _ path: KeyPath<RecipeOptions, SkeinBasics.Option<Value>>,
        _ value: Value?
    ) {
        if let value {
            values[dynamicMember: path] = value
            unnamed.remove(option)
        } else {
            values[dynamicMember: path] = OptionValues<RecipeOptions>()[dynamicMember: path]
            unnamed.insert(option)
        }
    }

    // MARK: Adapter

    /// Rank of the adapter: rows of A, columns of B; 1 to 1024.
    public var rank: Int {
        get { values.rank }
        set { give(.rank, \.rank, newValue) }
    }

    /// The adapter's output is scaled by `alpha / rank`; above 0, at most 65536.
    public var alpha: Double {
        get { values.alpha }
        set { give(.alpha, \.alpha, newValue) }
    }

    /// Whether the adapter's output is scaled by `alpha / sqrt(rank)` instead (rank-stabilized
    /// LoRA); nil: no.
    public var rslora: Bool? {
        get { values.rslora }
        set { values.rslora = newValue }
    }

    /// Whether to train also how long each row of an adapted weight is (DoRA); nil: no.
    public var dora: Bool? {
        get { values.dora }
        set { values.dora = newValue }
    }

    /// Other ranks, by the ends of modules' names or regular expressions for them, such as
    /// `["down_proj": 16, "layers.0.self_attn.q_proj": 4]`; nil: `rank` everywhere.
    public var rankPattern: [String: Int]? {
        get { values.rankPattern }
        set { values.rankPattern = newValue }
    }

    /// Other alphas, likewise; nil: `alpha` everywhere.
    public var alphaPattern: [String: Double]? {
        get { values.alphaPattern }
        set { values.alphaPattern = newValue }
    }

    /// Probability of dropping an element of the adapter's input; 0 to 0.9999.
    public var dropout: Double {
        get { values.dropout }
        set { give(.dropout, \.dropout, newValue) }
    }

    /// Hugging Face names of the projections that get an adapter, in any order; also `embed_tokens` and
    /// `lm_head`, the embedding and the head.
    public var targetModules = OptionValues<RecipeOptions>().targetModules.map(\.name) {
        didSet { unnamed.remove(.targetModules) }
    }

    /// Decoder blocks that get an adapter.
    public var layers: Layers {
        get { Layers(values.layers) }
        set { values.layers = newValue.selection }
    }

    // MARK: Optimizer

    /// AdamW's step size; above 0, at most 10. nil: by the model's width and `loss`.
    public var learningRate: Double? {
        get { given(.learningRate, \.learningRate) }
        set { give(.learningRate, \.learningRate, newValue) }
    }

    /// The learning rate of B, divided by that of A (LoRA+); above 0, at most 1024. nil: 1.
    public var loraPlusRatio: Double? {
        get { values.loraPlusRatio }
        set { values.loraPlusRatio = newValue }
    }

    /// Decoupled weight decay of A and B; 0 to 10.
    public var weightDecay: Double {
        get { values.weightDecay }
        set { values.weightDecay = newValue }
    }

    /// Decay of the mean gradient; 0 to below 1.
    public var beta1: Double {
        get { values.beta1 }
        set { values.beta1 = newValue }
    }

    /// Decay of the mean squared gradient; 0 to below 1.
    public var beta2: Double {
        get { values.beta2 }
        set { values.beta2 = newValue }
    }

    /// Added to the root of the mean squared gradient; 1e-30 to 1.
    public var epsilon: Double {
        get { values.epsilon }
        set { values.epsilon = newValue }
    }

    /// The learning rate after the warm-up.
    public var schedule: Schedule {
        get { Schedule(named: values.schedule) }
        set { give(.schedule, \.schedule, .init(named: newValue)) }
    }

    /// Steps over which the learning rate rises from 0.
    public var warmupSteps: Int? {
        get { given(.warmupSteps, \.warmupSteps) }
        set { give(.warmupSteps, \.warmupSteps, newValue) }
    }

    /// Share of all steps over which the learning rate rises from 0, rounded up; below 1. nil:
    /// `warmupSteps`.
    public var warmupRatio: Double? {
        get { values.warmupRatio }
        set { values.warmupRatio = newValue }
    }

    /// The rate that a decaying schedule ends at, below `learningRate`; nil: 0.
    public var minLearningRate: Double? {
        get { values.minLearningRate }
        set { values.minLearningRate = newValue }
    }

    /// Cycles of `Schedule.cosineWithRestarts`; nil: 1.
    public var restarts: Int? {
        get { values.restarts }
        set { values.restarts = newValue }
    }

    /// Exponent of `Schedule.polynomial`; nil: 1.
    public var power: Double? {
        get { values.power }
        set { values.power = newValue }
    }

    /// The norm to which gradients are clipped; 0: off.
    public var maxGradNorm: Double {
        get { values.maxGradNorm }
        set { values.maxGradNorm = newValue }
    }

    /// Share of the training loss that wants all tokens alike; below 1. nil: 0. Validation is without
    /// it.
    public var labelSmoothing: Double? {
        get { values.labelSmoothing }
        set { values.labelSmoothing = newValue }
    }

    /// Strength of uniform noise on the embeddings of training rows (NEFTune); above 0, at most
    /// 1000. nil: off.
    public var neftuneAlpha: Double? {
        get { values.neftuneAlpha }
        set { values.neftuneAlpha = newValue }
    }

    // MARK: Plan

    /// Passes over the training rows; nil: by their number.
    public var epochs: Int? {
        get { given(.epochs, \.epochs) }
        set { give(.epochs, \.epochs, newValue) }
    }

    /// Optimizer steps of the run, overriding `epochs`; nil: all epochs.
    public var iterations: Int? {
        get { values.iterations }
        set { values.iterations = newValue }
    }

    /// Rows per optimizer step.
    public var batchSize: Int {
        get { values.batchSize }
        set { values.batchSize = newValue }
    }

    /// Tokens computed together, at least one row.
    public var microBatchTokens: Int {
        get { values.microBatchTokens }
        set { values.microBatchTokens = newValue }
    }

    /// Threads, over all workers, that each step is cut for; nil: any number.
    public var slots: Int? {
        get { values.slots }
        set { values.slots = newValue }
    }

    // MARK: Local steps

    /// AdamW steps that each logical worker takes by itself before anything is averaged; nil: every
    /// step is taken together. Needs `logicalWorkers`.
    public var localSteps: Int? {
        get { values.localSteps }
        set { values.localSteps = newValue }
    }

    /// Adapters that are trained side by side between two averages.
    public var logicalWorkers: Int? {
        get { values.logicalWorkers }
        set { values.logicalWorkers = newValue }
    }

    /// How a change of parameters is coded; nil: not at all.
    public var deltaCodec: DeltaPrecision? {
        get { values.deltaCodec.map { DeltaPrecision(named: $0) } }
        set { values.deltaCodec = newValue.map { .init(named: $0) } }
    }

    /// Share of the numbers that `topk` keeps; nil: 1 in 32.
    public var topkDensity: Double? {
        get { values.topkDensity }
        set { values.topkDensity = newValue }
    }

    /// How far the parameters follow the average change; nil: 0.7.
    public var outerLearningRate: Double? {
        get { values.outerLearningRate }
        set { values.outerLearningRate = newValue }
    }

    /// Nesterov momentum of the average changes; nil: 0.9.
    public var outerMomentum: Double? {
        get { values.outerMomentum }
        set { values.outerMomentum = newValue }
    }

    /// Validations without a better one after which the run stops; nil: never.
    public var earlyStopPatience: Int? {
        get { values.earlyStopPatience }
        set { values.earlyStopPatience = newValue }
    }

    /// Steps between validations, besides those after each epoch; 1 or more, nil: none besides. The best
    /// adapter of all of them is kept.
    public var validateEvery: Int? {
        get { values.validateEvery }
        set { values.validateEvery = newValue }
    }

    /// What makes a validation the best one; nil: the lowest loss.
    public var bestMetric: BestMetric? {
        get { values.bestMetric.map { BestMetric(named: $0) } }
        set { values.bestMetric = newValue.map { .init(named: $0) } }
    }

    /// Seed of the split, the row order, the initial A and dropout; 0 or more.
    public var seed: Int {
        get { values.seed }
        set { values.seed = newValue }
    }

    // MARK: Numbers

    /// Precision of a micro-batch's gradient.
    public var gradientCodec: Precision {
        get { Precision(named: values.gradientCodec) }
        set { values.gradientCodec = .init(named: newValue) }
    }

    /// How numbers that enter the lowest adapted block are taken on; nil: as they are. Needs `layers` that
    /// leave the first block out.
    public var featureType: FeatureType? {
        get { values.featureType.map { FeatureType(named: $0) } }
        set { values.featureType = newValue.map { .init(named: $0) } }
    }

    /// Precision of multiplying by the frozen weights.
    public var compute: Compute {
        get { Compute(named: values.compute) }
        set { values.compute = .init(named: newValue) }
    }
}

extension Recipe {
    /// SHA-256 of the recipe, in hexadecimal: `configuration_sha256` in run.json.
    ///
    /// - Throws: `SkeinError` for a value that is not allowed, or that is left to the run.
    public func sha256() throws -> String {
        try SkeinError.wrapping {
            let configuration = try checked()
            // What another option makes idle is not open.
            let open = unnamed.intersection(MeasuredOption.automatic).filter { option in
                switch option {
                case .epochs: configuration.iterations == nil
                case .warmupSteps: configuration.warmupRatio == nil
                default: true
                }
            }
            guard let option = open.map(\.rawValue).min() else {
                return configuration.digest.description
            }
            throw SkeinError(
                code: .usage,
                what: "\(OptionNames.inCode("--" + option)) follows from model and rows, so this "
                    + "recipe has no SHA-256 of its own", place: "Recipe",
                remedy: "set it, or read the SHA-256 in the run.json of a run")
        }
    }

    /// The recipe as options of the modules below.
    ///
    /// - Throws: `TrainingError.badOption`.
    func checked() throws -> TrainingConfiguration {
        var configuration = TrainingConfiguration()
        configuration.recipe = values
        try configuration.set("target-modules", to: targetModules.joined(separator: ","))
        try configuration.validate()
        return configuration
    }
}
