import FoundationModels
import SampleRunner

/// Kind 46: a tool that searches recipes, in an answer with a form.
struct SearchJams: Tool {
    let name = "searchJams"
    let description = "Searches the jam book for a fruit."

    @Generable
    struct Arguments {
        @Guide(description: "What to boil", .anyOf(["quince", "rosehip", "sloe"]))
        let fruit: String
    }

    func call(arguments: Arguments) async throws -> String {
        "\(arguments.fruit): 1 kg of fruit, 600 g of sugar, 20 minutes"
    }
}

@Generable
struct JamPlan {
    @Guide(.anyOf(["quince", "rosehip", "sloe"]))
    var fruit: String
    @Guide(.range(1...60))
    var minutes: Int
}

enum JamRecipes {
    static func run() async throws {
        let session = LanguageModelSession(
            tools: [SearchJams()], instructions: "Search the jam book before you plan.")
        let response = try await session.respond(
            to: "Plan a jam for October.", generating: JamPlan.self, options: Calling.certain())
        print(session.transcript)
        try expect((1...60).contains(response.content.minutes), "tools and forms go together")
        try expect(!Calling.calls(of: session).isEmpty, "the tool was called")
    }
}
