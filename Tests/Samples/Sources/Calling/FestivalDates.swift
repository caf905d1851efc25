import Foundation
import FoundationModels
import SampleRunner

/// Kind 42: an argument that may be left out, and a `call` that cannot fail.
struct FestivalDate: Tool {
    let name = "festivalDate"
    let description = "Tells the date of the village festival."

    @Generable
    struct Arguments {
        @Guide(description: "The year; this one if left out", .range(2000...2100))
        var year: Int?
    }

    func call(arguments: Arguments) async -> String {
        let year = arguments.year ?? Calendar.current.component(.year, from: .now)
        return "The festival begins on 14 August \(year)."
    }
}

enum FestivalDates {
    static func run() async throws {
        let tool = FestivalDate()
        print(await tool.call(arguments: .init(year: nil)))
        try expect(
            await tool.call(arguments: .init(year: 2031)).hasSuffix("2031."), "the year counts")
        let session = LanguageModelSession(tools: [tool]) {
            "Use festivalDate before you name a date."
        }
        _ = try await session.respond(to: "When is the festival?", options: Calling.certain(48))
        print(session.transcript)
        try expect(!Calling.calls(of: session).isEmpty, "the tool was called")
    }
}
