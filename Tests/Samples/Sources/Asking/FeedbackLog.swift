import Foundation
import FoundationModels
import SampleRunner

/// Kind 55: what people think of answers, a line for each.
enum FeedbackLog {
    static func run() async throws {
        let session = LanguageModelSession(instructions: "You know mountains.")
        _ = try await session.respond(
            to: "Which one is the highest?", options: GenerationOptions(maximumResponseTokens: 12))

        let plain = session.logFeedbackAttachment(sentiment: .positive)
        let detailed = session.logFeedbackAttachment(
            sentiment: .negative,
            issues: [
                LanguageModelFeedback.Issue(
                    category: .incorrect, explanation: "Another one is higher."),
                LanguageModelFeedback.Issue(category: .tooVerbose),
            ],
            desiredOutput: .response(
                Transcript.Response(
                    assetIDs: [], segments: [.text(.init(content: "Mount Everest"))])))
        let worded = session.logFeedbackAttachment(
            sentiment: .neutral, desiredResponseText: "Mount Everest")

        let report = [plain, detailed, worded].map { String(decoding: $0, as: UTF8.self) }
            .joined(separator: "\n")
        print(report)
        try expect(report.split(separator: "\n").count == 3, "each is one line")
        for line in [plain, detailed, worded] {
            let object = try JSONSerialization.jsonObject(with: line) as? [String: Any]
            try expect(object?["sentiment"] != nil, "each is an object with a sentiment")
        }
        try expect(
            LanguageModelFeedback.Issue.Category.allCases.count == 8
                && LanguageModelFeedback.Sentiment.allCases.count == 3,
            "a form can list all choices")
    }
}
