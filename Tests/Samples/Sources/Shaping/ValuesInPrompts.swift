import FoundationModels
import SampleRunner

/// The types of kind 53.
@Generable
struct Knot {
    @Guide(.anyOf(["bowline", "reef knot", "clove hitch"]))
    var name: String
    @Guide(.range(1...10))
    var minutes: Int
}

@Generable
struct Lesson {
    var opening: String
    @Guide(.range(1...60))
    var minutes: Int

    static let example = Lesson(opening: "Take the rope in your left hand.", minutes: 12)
}

/// Kind 53: one answer in the next prompt, and a value as an example.
enum ValuesInPrompts {
    static func run() async throws {
        let first = try await LanguageModelSession().respond(
            to: "Pick a knot for a beginner.", generating: Knot.self,
            options: GenerationOptions(maximumResponseTokens: 48))
        let knot = first.content
        let teacher = LanguageModelSession(instructions: "You teach knots.")
        let lesson = try await teacher.respond(
            generating: Lesson.self, options: Shaping.brief()
        ) {
            "Begin a lesson on this knot:"
            knot
            "It should sound like this one:"
            Lesson.example
        }
        print(knot, lesson.content)
        guard case .prompt(let prompt)? = teacher.transcript.dropFirst().first,
            case .text(let text)? = prompt.segments.first
        else { throw Unexpected("the transcript has no prompt") }
        try expect(
            text.content.contains(Lesson.example.generatedContent.jsonString),
            "a value stands in a prompt as its JSON")
    }
}
