import FoundationModels
import SampleRunner

/// Kind 17: terms to search a flea market for.
@Generable
struct FleaMarketTerms {
    @Guide(description: "Words that people type into the search field", .count(4))
    var terms: [String]
}

/// Kind 17, with rows that a list can tell apart.
@Generable
struct ShelfOfTerms {
    @Generable
    struct Term {
        var id: GenerationID
        @Guide(.anyOf(["lamp", "chair", "clock", "globe", "drum"]))
        var text: String
    }

    @Guide(.count(3))
    var terms: [Term]
}

@Generable
struct BookNames {
    @Guide(description: "Names for a book of soups", .count(3))
    var names: [String]
}

enum SearchTerms {
    static func run() async throws {
        let session = LanguageModelSession()
        let response = try await session.respond(
            to: "What do people look for at a flea market?", generating: FleaMarketTerms.self,
            options: Shaping.brief(64))
        print(response.content.terms)

        let shelf = try await session.respond(
            to: "Fill a shelf.", generating: ShelfOfTerms.self,
            options: GenerationOptions(maximumResponseTokens: 64))
        try expect(shelf.content.terms.count == 3, "there are exactly three rows")
        try expect(Set(shelf.content.terms.map(\.id)).count == 3, "each row has an id of its own")
        print(shelf.content.terms.map(\.text))

        let book = try await LanguageModelSession().respond(
            to: "Name a book of soups.", generating: BookNames.self, options: Shaping.brief())
        print(book.content.names)
    }
}
