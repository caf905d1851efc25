import FoundationModels
import SampleRunner

/// The type of kind 28.
@Generable
struct Postcard {
    @Guide(description: "From where", .anyOf(["Lofoten", "Elba", "Madeira"]))
    var place: String
    @Guide(.maximumCount(2))
    var sights: [Sight]
    @Guide(description: "One sentence")
    var closing: String

    @Generable
    struct Sight {
        @Guide(.anyOf(["harbour", "volcano", "market"]))
        var name: String
        @Guide(.range(1...5))
        var stars: Int
    }
}

/// Kind 28: a value whose parts are shown as they come.
@MainActor
final class PartialValues {
    private var card: Postcard.PartiallyGenerated?

    func write() async throws {
        let session = LanguageModelSession(instructions: "You write postcards.")
        let stream = session.streamResponse(
            to: "Write one.", generating: Postcard.self, options: Shaping.brief(72))
        var snapshots = 0
        for try await snapshot in stream {
            card = snapshot.content
            snapshots += 1
        }
        try expect(snapshots > 0, "the last snapshot comes in any case")
    }

    /// Unwraps whatever there is.
    var text: String {
        guard let card else { return "(nothing yet)" }
        var lines: [String] = []
        if let place = card.place { lines.append("From \(place)") }
        if let sights = card.sights {
            for sight in sights {
                lines.append(
                    "\(sight.name ?? "...") \(String(repeating: "*", count: sight.stars ?? 0))")
            }
        }
        if let closing = card.closing { lines.append(closing) }
        return lines.joined(separator: "\n")
    }

    static func run() async throws {
        let view = PartialValues()
        print(view.text)
        try await view.write()
        print(view.text)

        // In a loop without a view; identities stay the same.
        let session = LanguageModelSession()
        let stream = session.streamResponse(generating: Postcard.self, options: Shaping.brief(72)) {
            "Write a postcard."
        }
        var ids: Set<GenerationID> = []
        for try await partial in stream {
            ids.insert(partial.content.id)
            print(partial.rawContent.jsonString)
        }
        try expect(ids.count == 1, "all snapshots are of one value")
        let card = try await stream.collect().content
        try expect(card.sights.count <= 2, "the whole value keeps its guides")
    }
}
