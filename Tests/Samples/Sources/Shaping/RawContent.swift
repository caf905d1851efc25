import FoundationModels
import SampleRunner

/// The type of kind 26.
@Generable
struct TidePool {
    @Guide(.anyOf(["crab", "starfish", "shrimp"]))
    var animal: String
    @Guide(.range(1...99))
    var count: Int
}

/// Kind 26: a value beside what it was made of.
enum RawContent {
    static func run() async throws {
        let session = LanguageModelSession()
        let response = try await session.respond(
            to: "What is in the pool?", generating: TidePool.self,
            options: GenerationOptions(maximumResponseTokens: 48))
        let pool = response.content
        let raw = response.rawContent
        print(pool, raw.jsonString)
        try expect(raw.isComplete, "the raw content is complete")
        try expect(try raw.value(Int.self, forProperty: "count") == pool.count, "both say the same")
        guard case .structure(let properties, let keys) = raw.kind else {
            throw Unexpected("the raw content is no structure")
        }
        try expect(keys == ["animal", "count"], "properties are written in their order")
        if case .number(let count)? = properties["count"]?.kind { print("as a number: \(count)") }
    }
}
