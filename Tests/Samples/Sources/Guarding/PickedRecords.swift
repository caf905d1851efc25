import FoundationModels
import SampleRunner

/// A page of a ship's log, with a summary that was made when it was saved.
struct LogPage: Sendable {
    var day: Int
    var text: String
    var summary = ""
}

/// Kind 51: few of many records, long ones shortened first.
enum PickedRecords {
    static let options = GenerationOptions(temperature: 0.3, maximumResponseTokens: 20)
    static let pages = (1...40).map { day in
        LogPage(day: day, text: "Day \(day). Wind from \(day % 3 == 0 ? "the north" : "the west").")
    }

    /// Those with the most words of the question.
    static func picked(for question: String, count: Int = 5) -> [LogPage] {
        func words(_ text: String) -> Set<Substring> {
            Set(text.lowercased().split { !$0.isLetter })
        }
        let wanted = words(question)
        func score(_ page: LogPage) -> Int { words(page.text).intersection(wanted).count }
        let ranked = pages.sorted { (score($0), $1.day) > (score($1), $0.day) }
        return Array(ranked.prefix(count))
    }

    static func saved(_ page: LogPage) async throws -> LogPage {
        let session = LanguageModelSession(instructions: "Sum up the page in five words.")
        var page = page
        page.summary = try await session.respond(to: page.text, options: options).content
        return page
    }

    static func run() async throws {
        let question = "When did the wind come from the north?"
        let records = picked(for: question)
        try expect(records.count == 5, "five records are picked")
        try expect(records.allSatisfy { $0.day % 3 == 0 }, "those that fit are picked")
        let session = LanguageModelSession(instructions: "Answer from the log alone.")
        let direct = try await session.respond(options: options) {
            "The log:"
            for record in records { record.text }
            question
        }
        print(direct.content)

        // One session shortens, another one answers.
        let shortener = LanguageModelSession(instructions: "Shorten the log.")
        let short = try await shortener.respond(
            to: records.map(\.text).joined(separator: "\n"), options: options
        ).content
        let answerer = LanguageModelSession(instructions: "Answer from the notes alone.")
        print(
            try await answerer.respond(options: options) {
                "Notes: \(short)"
                question
            }.content)
        try expect(answerer.transcript.count == 3, "the second session has the notes alone")

        let page = try await saved(pages[0])
        print("day \(page.day): \(page.summary)")
    }
}
