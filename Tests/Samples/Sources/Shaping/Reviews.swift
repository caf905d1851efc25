import FoundationModels
import SampleRunner

/// Kind 20: a plain type.
@Generable
struct NovelReview {
    var title: String
    var verdict: String
    var isWorthReading: Bool
}

/// Kind 20: bounds of numbers and counts.
@Generable
struct KettleReview {
    @Guide(description: "Stars", .range(1...5))
    var stars: Int
    @Guide(.minimumCount(1), .maximumCount(3), .element(.anyOf(["quick", "quiet", "light"])))
    var strengths: [String]
    @Guide(.maximumCount(2), .element(.anyOf(["dear", "loud", "heavy"])))
    var weaknesses: [String]
    @Guide(description: "How sure this is", .minimum(0), .maximum(1))
    var confidence: Double
}

enum Reviews {
    static func run() async throws {
        let session = LanguageModelSession(instructions: "You review things in few words.")
        let novel = try await session.respond(
            to: "Review a novel about a lighthouse.", generating: NovelReview.self,
            options: Shaping.brief(64))
        print(novel.content.title, novel.content.verdict, novel.content.isWorthReading)

        let kettle = try await LanguageModelSession().respond(
            generating: KettleReview.self, options: GenerationOptions(maximumResponseTokens: 160)
        ) {
            "Review this kettle:"
            "It boils fast, costs much and can be heard all over the house."
        }.content
        print(kettle)
        try expect((1...5).contains(kettle.stars), "the stars are in their range")
        try expect((1...3).contains(kettle.strengths.count), "the count has both bounds")
        try expect((0...1).contains(kettle.confidence), "the number has both bounds")
    }
}
