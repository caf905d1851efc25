import FoundationModels
import SampleRunner

@Generable
struct LetterTags {
    @Guide(.maximumCount(3))
    var actions: [String]
    @Guide(.maximumCount(3))
    var emotions: [String]
}

@Generable
struct PictureTags {
    @Guide(.maximumCount(2))
    var topics: [String]
    @Guide(.maximumCount(2))
    var actions: [String]
    @Guide(.maximumCount(2))
    var emotions: [String]
    @Guide(.maximumCount(2))
    var objects: [String]
}

/// Kind 39: a model for tags.
enum Tagging {
    static let options = GenerationOptions(
        temperature: 0.2, maximumResponseTokens: 64, closesAtLimit: true)

    static func run() async throws {
        let model = SystemLanguageModel(useCase: .contentTagging)
        let session = LanguageModelSession(model: model)
        let topics = try await session.respond(
            to: "On Monday we oiled the old clock, and now it strikes again.", options: options)
        print(topics.content)

        let letters = LanguageModelSession(
            model: model, instructions: "Name the three main actions and emotions.")
        let letter = try await letters.respond(
            to: "She waved from the deck and he laughed.", generating: LetterTags.self,
            options: options
        ).content
        print(letter)
        try expect(
            letter.actions.count <= 3 && letter.emotions.count <= 3, "there are three at most")

        let picture = try await LanguageModelSession(model: model).respond(
            to: "Two children fly a kite above a pond.", generating: PictureTags.self,
            options: options
        ).content
        for tags in [picture.topics, picture.actions, picture.emotions, picture.objects] {
            print(tags)
            try expect(tags.count <= 2, "there are two at most")
        }
    }
}
