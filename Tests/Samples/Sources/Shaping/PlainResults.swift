import FoundationModels
import SampleRunner

/// Kinds 14 and 15: a number or a list as the whole answer.
enum PlainResults {
    static func run() async throws {
        // Kind 14.
        let session = LanguageModelSession(instructions: "You weigh parcels.")
        let weight = try await session.respond(
            to: "How many kilograms has a parcel with two bricks?", generating: Float.self,
            options: GenerationOptions(temperature: 0.1, maximumResponseTokens: 64))
        print("\(weight.content) kg")
        try expect(weight.content.isFinite, "the answer is a number")

        // Kind 15.
        do {
            let points = try await LanguageModelSession().respond(
                to: "List five points in favour of a cargo bike.", generating: [String].self,
                options: Shaping.brief(64))
            for point in points.content.prefix(5) { print("- \(point)") }
        } catch LanguageModelSession.GenerationError.refusal(let refusal, _) {
            print("declined: \(try await refusal.explanation.content)")
        }
    }
}
