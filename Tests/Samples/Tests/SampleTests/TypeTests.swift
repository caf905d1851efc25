import Foundation
import FoundationModels
import Testing

@Generable
struct Recipe: Equatable {
    @Guide(.range(1...12))
    var servings: Int
    @Guide(.anyOf(["raw", "boiled", "baked"]))
    var way: String
    var note: String?
}

@Suite("A program's types")
struct TypeTests {
    @Test("A value comes back from its content")
    func roundTrip() throws {
        let recipe = Recipe(servings: 4, way: "baked", note: nil)
        #expect(try Recipe(recipe.generatedContent) == recipe)
    }

    @Test("A content without a property is an error")
    func missing() {
        #expect(throws: (any Error).self) {
            try Recipe(GeneratedContent(json: #"{"servings": 4}"#))
        }
    }

    @Test("The schema can be written down")
    func schema() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(Recipe.generationSchema)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("servings"))
        let again = try JSONDecoder().decode(GenerationSchema.self, from: data)
        #expect(try encoder.encode(again) == data)
    }
}

/// Off unless they are asked for: they need a model, and take time.
@Suite(
    "With a model", .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["SAMPLE_TESTS_WITH_MODEL"] != nil))
struct ModelTests {
    @Test("A value of the type comes")
    func recipe() async throws {
        let response = try await LanguageModelSession().respond(
            to: "How do I cook beetroot?", generating: Recipe.self,
            options: GenerationOptions(maximumResponseTokens: 64, closesAtLimit: true))
        #expect((1...12).contains(response.content.servings))
    }
}
