import FoundationModels
import SampleRunner

/// Kind 44: all names in the instructions, the details of one by a tool.
struct ApplePage: Tool {
    let name = "applePage"
    let description = "Gives the page on one kind of apple."
    let book: [String: String]
    let parameters: GenerationSchema

    /// The names are known at run time only, so the schema is made then.
    init(book: [String: String]) throws {
        self.book = book
        parameters = try GenerationSchema(
            root: DynamicGenerationSchema(
                name: "Page",
                properties: [
                    .init(
                        name: "apple",
                        schema: DynamicGenerationSchema(name: "Apple", anyOf: book.keys.sorted()))
                ]), dependencies: [])
    }

    func call(arguments: GeneratedContent) async throws -> String {
        let apple: String = try arguments.value(forProperty: "apple")
        return book[apple] ?? "There is no page on it."
    }
}

enum NamesAndDetails {
    static func run() async throws {
        let book = [
            "Boskoop": "Sour, keeps until March.",
            "Gravensteiner": "Fragrant, eat it in September.",
            "Ontario": "Juicy, for cakes.",
        ]
        let session = LanguageModelSession(tools: [try ApplePage(book: book)]) {
            "You know these apples by name:"
            book.keys.sorted()
            "Read the page before you say more about one."
        }
        let response = try await session.respond(
            to: "Which apple suits a cake?", options: Calling.certain())
        print(session.transcript)
        for call in Calling.calls(of: session) {
            let apple: String = try call.arguments.value(forProperty: "apple")
            try expect(book[apple] != nil, "only names of the book are asked for")
        }
        try expect(!response.transcriptEntries.isEmpty, "the response has its entries")
    }
}
