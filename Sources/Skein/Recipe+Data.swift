import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTraining

// What becomes of the rows.
extension Recipe {
    /// Tokens per row; longer rows are cut at the right.
    public var maxLength: Int {
        get { values.maxLength }
        set { values.maxLength = newValue }
    }

    /// Whether to shuffle the rows in each epoch.
    public var shuffle: Bool {
        get { values.shuffle }
        set { values.shuffle = newValue }
    }

    /// Share of the rows kept for validation when there is no validation file; 0 to below 1.
    public var validationSplit: Double {
        get { values.validationSplit }
        set { values.validationSplit = newValue }
    }

    /// What a split never divides: a row, or all rows with the same prompt; nil: a row.
    public var splitBy: SplitUnit? {
        get { values.splitBy.map { .init(named: $0) } }
        set { values.splitBy = newValue.map { .init(named: $0) } }
    }

    /// Seed of the split alone: the same rows are held out, whatever `seed` is; nil: `seed`.
    public var splitSeed: Int? {
        get { values.splitSeed }
        set { values.splitSeed = newValue }
    }

    /// Whether texts longer than `maxLength` are cut into several rows, and blank lines separate the
    /// texts of a .txt file; nil: no.
    public var textChunks: Bool? {
        get { values.textChunks }
        set { values.textChunks = newValue }
    }

    /// How a row becomes text.
    public var promptFormat: PromptFormat {
        get { PromptFormat(named: values.promptFormat) }
        set { values.promptFormat = .init(named: newValue) }
    }

    /// Which assistant turns of a conversation carry loss.
    public var trainOn: TrainedTurns {
        get { TrainedTurns(named: values.trainOn) }
        set { values.trainOn = .init(named: newValue) }
    }

    /// How two answers of a row are compared; nil: each row's tokens are learned (cross-entropy).
    public var loss: PreferenceLoss? {
        get { values.loss.map { .init(named: $0) } }
        set { values.loss = newValue.map { .init(named: $0) } }
    }

    /// How much a loss of pairs weighs their difference; nil: 0.1, with SimPO 2.
    public var beta: Double? {
        get { values.beta }
        set { values.beta = newValue }
    }

    /// By how much SimPO wants the chosen answer ahead; nil: half of `beta`.
    public var simpoGamma: Double? {
        get { values.simpoGamma }
        set { values.simpoGamma = newValue }
    }

    /// What DPO compares with; nil: the base model.
    public var reference: Reference? {
        get { values.reference.map { .init(named: $0) } }
        set { values.reference = newValue.map { .init(named: $0) } }
    }

    /// The key or column that holds a part of a row: `prompt=question,completion=answer`; nil: each
    /// part's own name.
    public var field: String? {
        get { values.field }
        set { values.field = newValue }
    }

    /// The chat template: the name of a built-in one or of one of the model's, or the path of a file;
    /// nil: the model's.
    public var chatTemplate: String? {
        get { values.chatTemplate }
        set { values.chatTemplate = newValue }
    }

    /// What the chat template sees besides the messages: `enable_thinking=false`, several with
    /// commas between them, or a JSON object.
    public var templateArgument: String? {
        get { values.templateArgument }
        set { values.templateArgument = newValue }
    }

    /// The day, such as 2024-07-26, that the chat template sees as today; nil: that one.
    public var templateDate: String? {
        get { values.templateDate }
        set { values.templateDate = newValue }
    }
}
