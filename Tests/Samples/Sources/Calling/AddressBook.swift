import FoundationModels
import SampleRunner

/// Kind 40: people of a rowing club, found by what they row.
struct FindRowers: Tool {
    let name = "findRowers"
    let description = "Finds members of the rowing club by their boat."

    @Generable
    struct Arguments {
        @Guide(description: "The boat", .anyOf(["single", "double", "eight"]))
        var boat: String
        @Guide(description: "How many people at most", .range(1...10))
        var limit: Int
    }

    private let members = [
        ("Grete Holm", "eight"), ("Aksel Lie", "single"), ("Mona Berg", "eight"),
        ("Tor Vik", "double"),
    ]

    func call(arguments: Arguments) async throws -> GeneratedContent {
        let found = members.filter { $0.1 == arguments.boat }.prefix(arguments.limit)
        return GeneratedContent(properties: [
            "boat": arguments.boat,
            "names": found.map(\.0),
        ])
    }
}

enum AddressBookSample {
    static func run() async throws {
        let session = LanguageModelSession(
            tools: [FindRowers()], instructions: "You help the coach. Look people up.")
        let response = try await session.respond(
            to: "Who can row the eight on Sunday?", options: Calling.certain())
        print(session.transcript)
        print(response.content)
        let calls = Calling.calls(of: session)
        try expect(!calls.isEmpty, "the tool was called")
        for call in calls {
            let limit: Int = try call.arguments.value(forProperty: "limit")
            try expect((1...10).contains(limit), "arguments keep their guides")
        }
    }
}
