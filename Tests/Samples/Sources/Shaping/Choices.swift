import FoundationModels
import SampleRunner

/// Kind 21: one of several cases as the whole answer.
@Generable
enum Picnic {
    case sandwiches
    case soup
    case pancakes
}

@Generable(description: "How a letter to the town sounds, and how soon it needs an answer")
struct LetterMood {
    @Generable
    enum Sentiment: String, CaseIterable {
        case pleased, neutral, angry
    }

    @Generable
    enum Urgency {
        case today
        case thisWeek
        case whenever
    }

    var sentiment: Sentiment
    var urgency: Urgency
}

enum Choices {
    static func run() async throws {
        let options = GenerationOptions(maximumResponseTokens: 48)
        let picnic = try await LanguageModelSession().respond(
            to: "It is cold and we have a stove. What do we take along?", generating: Picnic.self,
            options: options)
        switch picnic.content {
        case .sandwiches: print("bread and cheese")
        case .soup: print("a pot of soup")
        case .pancakes: print("a pan and eggs")
        }

        let session = LanguageModelSession(instructions: "Sort letters.")
        let mood: LetterMood = try await session.respond(
            to: "The street lamp has been dark for a year!", options: options
        ).content
        print(mood.sentiment.rawValue, mood.urgency)
        try expect(LetterMood.Sentiment.allCases.contains(mood.sentiment), "it is one of the cases")
    }
}
