import FoundationModels
import SampleRunner

/// Answers with a form: kinds 14 to 26, 28 and 53.
@main
struct Shaping {
    static func main() async {
        await SampleProgram.run([
            Sample("PlainResults") { try await PlainResults.run() },
            Sample("HerdBook") { try await HerdBook.run() },
            Sample("SearchTerms") { try await SearchTerms.run() },
            Sample("Voyage") { try await VoyageSample.run() },
            Sample("Itinerary") { try await ItinerarySample.run() },
            Sample("Reviews") { try await Reviews.run() },
            Sample("Choices") { try await Choices.run() },
            Sample("Corrections") { try await Corrections.run() },
            Sample("AppTypes") { try await AppTypes.run() },
            Sample("AppValues", needsModel: false) { try await AppValues.run() },
            Sample("MenuOfTheDay") { try await MenuOfTheDay.run() },
            Sample("RawContent") { try await RawContent.run() },
            Sample("PartialValues") { try await PartialValues.run() },
            Sample("ValuesInPrompts") { try await ValuesInPrompts.run() },
        ])
    }

    /// For types whose texts have no guide: a small model does not end them by itself, and without
    /// `closesAtLimit` (an addition of this library) a value that is not complete is an error.
    static func brief(_ tokens: Int = 48) -> GenerationOptions {
        GenerationOptions(temperature: 0.5, maximumResponseTokens: tokens, closesAtLimit: true)
    }
}
