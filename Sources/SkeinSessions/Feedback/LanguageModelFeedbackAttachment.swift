import SkeinGrammar
import SkeinJSON

/// A line of a feedback report, as it had to be made once.
@available(*, deprecated, message: "use LanguageModelSession.logFeedbackAttachment")
public struct LanguageModelFeedbackAttachment: Sendable {
    /// Whether an answer was liked.
    public typealias Sentiment = LanguageModelFeedback.Sentiment
    /// Something that was wrong with an answer.
    public typealias Issue = LanguageModelFeedback.Issue

    private enum Subject: Sendable {
        case one(FeedbackRecord)
        case several(
            input: [Transcript.Entry], outputs: [[Transcript.Entry]], preferred: Int,
            explanation: String?)
    }

    private let subject: Subject

    /// What a person thinks of one output.
    ///
    /// - Parameters:
    ///   - input: all entries before the output.
    ///   - output: the entries of the output.
    ///   - sentiment: whether it was liked.
    ///   - issues: what was wrong with it.
    ///   - desiredOutputExamples: better outputs.
    public init(
        input: [Transcript.Entry], output: [Transcript.Entry], sentiment: Sentiment?,
        issues: [Issue] = [], desiredOutputExamples: [[Transcript.Entry]] = []
    ) {
        var record = FeedbackRecord(input: input, output: output)
        record.sentiment = sentiment
        record.issues = issues
        record.desiredOutputExamples = desiredOutputExamples
        subject = .one(record)
    }

    /// Which of several outputs for one input a person likes best.
    ///
    /// - Parameters:
    ///   - input: all entries before the outputs.
    ///   - outputs: the entries of each output.
    ///   - preferredOutputIndex: the place of the best one.
    ///   - explanation: in the person's own words.
    public init(
        input: [Transcript.Entry], outputs: [[Transcript.Entry]], preferredOutputIndex: Int,
        explanation: String? = nil
    ) {
        subject = .several(
            input: input, outputs: outputs, preferred: preferredOutputIndex,
            explanation: explanation)
    }
}

@available(*, deprecated, message: "use LanguageModelSession.logFeedbackAttachment")
extension LanguageModelFeedbackAttachment: Encodable {
    /// Writes the fields that a session's feedback has, or those of a choice between outputs.
    ///
    /// - Parameter encoder: of any format.
    /// - Throws: `OptionsError` and `TranscriptError` for entries that cannot be coded; what the
    ///   encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try JSONCoded(coded()).encode(to: encoder)
    }

    private func coded() throws -> JSONValue {
        switch subject {
        case .one(let record): try record.coded()
        case .several(let input, let outputs, let preferred, let explanation):
            .object([
                JSONField("explanation", .text(explanation)),
                JSONField("input", try FeedbackRecord.coded(input)),
                JSONField("outputs", .list(try outputs.map(FeedbackRecord.coded))),
                JSONField("preferredOutputIndex", .number("\(preferred)")),
                JSONField("version", .text(FeedbackRecord(input: [], output: []).version)),
            ])
        }
    }
}
