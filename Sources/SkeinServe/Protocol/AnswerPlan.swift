import SkeinInference

/// A request that was understood: what is to be made, and how the answer is told.
struct AnswerPlan: Sendable {
    var jobs: [AnswerJob]
    var format: AnswerFormat
    /// What of the request's schemas the answers are not held to.
    var dropped = DroppedParts()
}

/// How the answers of a request are told.
struct AnswerFormat: Sendable {
    enum Kind: Sendable, Equatable {
        case chat
        case completion
    }

    /// A prompt that its answers begin with.
    struct Echo: Sendable {
        /// Empty if it is not echoed.
        var text = ""
        /// Tokens at the beginning of the prompt that the text does not show: the one that the model
        /// expects before every text.
        var hiddenTokens = 0
    }

    var kind: Kind
    /// The answer's identifier, such as `chatcmpl-...`.
    var id: String
    var model: String
    /// Seconds since 1970.
    var created: Int
    var streams: Bool
    var includesUsage: Bool
    /// How many answers: prompts times choices.
    var answers: Int
    /// Answers to one prompt, which count its tokens once.
    var choices: Int
    /// What the answers to each prompt begin with.
    var echoes: [Echo]
    /// Likeliest tokens that were asked for; nil: no log-probabilities.
    var logprobs: Int?
    /// What each answer must be, without its text: what goes wrong is told of its place.
    var form: AnswerForm

    init(
        _ kind: Kind, id: String, model: String, created: Int, sampling: SamplingRequest,
        prompts: Int, echoes: [Echo], logprobs: Int?, form: AnswerForm
    ) {
        self.kind = kind
        self.id = id
        self.model = model
        self.created = created
        streams = sampling.streams
        includesUsage = sampling.includesUsage
        choices = sampling.choices
        answers = prompts * sampling.choices
        self.echoes = echoes
        self.logprobs = logprobs
        self.form = form.withoutText
    }
}
