import Foundation
import Synchronization

extension LanguageModelSession {
    /// A line of a report on the last reply: what was asked, what came, and what a person thinks of it.
    ///
    /// Nothing is sent anywhere: write the line, and a line's end, to a JSONL file.
    ///
    /// - Parameters:
    ///   - sentiment: whether the reply was liked.
    ///   - issues: what was wrong with it.
    ///   - desiredOutput: a better reply.
    /// - Returns: a JSON object on one line.
    @discardableResult
    public func logFeedbackAttachment(
        sentiment: LanguageModelFeedback.Sentiment?,
        issues: [LanguageModelFeedback.Issue] = [], desiredOutput: Transcript.Entry? = nil
    ) -> Data {
        var record = FeedbackRecord(ratingTheEndOf: state.withLock { $0.transcript })
        record.sentiment = sentiment
        record.issues = issues
        record.desiredOutputExamples = desiredOutput.map { [[$0]] } ?? []
        record.model = model.assetIDs.first
        record.adapter = model.assetIDs.dropFirst().first
        record.time = Date()
        do {
            return try record.data()
        } catch {
            // Only a transcript that was made by hand can hold what has no JSON.
            record.input = []
            record.output = []
            record.desiredOutputExamples = []
            // What is left are texts and a date, which have one.
            return (try? record.data()) ?? Data("{}".utf8)
        }
    }

    /// A line of a report on the last reply.
    ///
    /// - Parameters:
    ///   - sentiment: whether the reply was liked.
    ///   - issues: what was wrong with it.
    ///   - desiredResponseText: a better reply.
    /// - Returns: a JSON object on one line.
    @discardableResult
    public func logFeedbackAttachment(
        sentiment: LanguageModelFeedback.Sentiment?,
        issues: [LanguageModelFeedback.Issue] = [], desiredResponseText: String?
    ) -> Data {
        logFeedbackAttachment(
            sentiment: sentiment, issues: issues,
            desiredOutput: desiredResponseText.map { text in
                .response(
                    .init(assetIDs: [], segments: [.text(.init(content: text))]))
            })
    }

    /// A line of a report on the last reply.
    ///
    /// - Parameters:
    ///   - sentiment: whether the reply was liked.
    ///   - issues: what was wrong with it.
    ///   - desiredResponseContent: a better reply, as a value.
    /// - Returns: a JSON object on one line.
    @discardableResult
    public func logFeedbackAttachment(
        sentiment: LanguageModelFeedback.Sentiment?,
        issues: [LanguageModelFeedback.Issue] = [],
        desiredResponseContent: (any ConvertibleToGeneratedContent)?
    ) -> Data {
        logFeedbackAttachment(
            sentiment: sentiment, issues: issues,
            desiredOutput: desiredResponseContent.map { value in
                .response(
                    .init(
                        assetIDs: [],
                        segments: [
                            .structure(
                                .init(
                                    source: TypeName.of(type(of: value)),
                                    content: value.generatedContent))
                        ]))
            })
    }
}
