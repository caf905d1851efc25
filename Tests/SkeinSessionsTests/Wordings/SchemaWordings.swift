import Foundation
import Testing

@testable import SkeinSessions

/// How often a model answers rightly after each wording of a schema. A measurement:
/// Scripts/bench-wordings runs it. The most likely tokens are taken, so each run gives the same counts.
@Suite(
    "Wordings of schemas", .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["SKEIN_BENCH_WORDINGS"] != nil))
struct SchemaWordings {
    private struct Score {
        var questions = 0
        var right = 0
        var properties = 0
        var rightProperties = 0
        /// The tokens that the wording adds to the prompts.
        var tokens = 0

        static func + (left: Score, right: Score) -> Score {
            Score(
                questions: left.questions + right.questions, right: left.right + right.right,
                properties: left.properties + right.properties,
                rightProperties: left.rightProperties + right.rightProperties,
                tokens: left.tokens + right.tokens)
        }
    }

    private let options = GenerationOptions(
        samplingMode: .greedy, maximumResponseTokens: 120, closesAtLimit: true)
    /// Whether each answer is printed.
    private let showsAnswers = ProcessInfo.processInfo.environment["SKEIN_SHOW_ANSWERS"] != nil
    /// Nil is the template's own system text.
    private let instructions = [nil, "Be brief.", "You read texts and write down facts."]

    @Test func ofSchemas() async throws {
        let path = try #require(ProcessInfo.processInfo.environment["SKEIN_BENCH_WORDINGS"])
        let model = SystemLanguageModel(model: URL(filePath: path))
        print("| wording | tokens it adds | questions, of 30 and 30 | properties |")
        print("|---|---|---|---|")
        for form in WordingForm.all {
            var scores = [Score(), Score()]
            for (set, questions) in [WordingQuestion.chosen, WordingQuestion.kept].enumerated() {
                for text in instructions {
                    let score = try await score(form, questions, model, text)
                    scores[set] = scores[set] + score
                }
            }
            let both = scores[0] + scores[1]
            print(
                "| \(form.name) | \(both.tokens / both.questions) "
                    + "| \(scores.map { figure($0.right) }.joined(separator: ", ")) "
                    + "| \(figure(both.rightProperties)) of \(both.properties / 3) |")
        }
    }

    /// The mean over the instructions.
    private func figure(_ sum: Int) -> String {
        (Double(sum) / Double(instructions.count)).formatted(.number.precision(.fractionLength(1)))
    }

    /// Four questions at once, as the model answers as many at once.
    private func score(
        _ form: WordingForm, _ questions: [WordingQuestion], _ model: SystemLanguageModel,
        _ instructions: String?
    ) async throws -> Score {
        try await withThrowingTaskGroup(of: Score.self) { group in
            var total = Score()
            for (number, question) in questions.enumerated() {
                if number >= 4, let one = try await group.next() { total = total + one }
                group.addTask { try await ask(question, form, model, instructions) }
            }
            for try await one in group { total = total + one }
            return total
        }
    }

    private func ask(
        _ question: WordingQuestion, _ form: WordingForm, _ model: SystemLanguageModel,
        _ instructions: String?
    ) async throws -> Score {
        let added = try form.text(question.schema)
        let session = LanguageModelSession(model: model, instructions: instructions)
        let reply = try await session.respond(
            to: question.prompt + (added ?? ""), schema: question.schema,
            includeSchemaInPrompt: false, options: options)
        let right = question.rightProperties(reply.content)
        if showsAnswers {
            print(
                "  \(right)/\(question.right.count) \(question.prompt) \(reply.content.jsonString)")
        }
        return Score(
            questions: 1, right: right == question.right.count ? 1 : 0,
            properties: question.right.count, rightProperties: right,
            tokens: try await model.tokenCount(for: added ?? ""))
    }
}
