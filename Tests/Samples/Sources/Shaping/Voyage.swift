import FoundationModels
import SampleRunner

/// Kind 18: all kinds of properties, another type, and the type itself.
@Generable
struct Voyage {
    @Guide(.anyOf(["Along the lock", "Round the island", "To the source"]))
    var title: String
    @Guide(.range(1...9))
    var days: Int
    @Guide(.range(0...5))
    var rating: Float
    @Guide(.range(0...100))
    var kilometres: Double
    var isByBoat: Bool
    @Guide(.maximumCount(2), .element(.anyOf(["Weir", "Lock", "Ferry", "Quay"])))
    var stops: [String]
    var skipper: Skipper
    @Guide(description: "Trips on the way", .maximumCount(1))
    var sideTrips: [Voyage]
}

@Generable
struct Skipper {
    @Guide(.anyOf(["Ada", "Jon", "Pia"]))
    var name: String
    @Guide(.range(18...80))
    var age: Int
}

enum VoyageSample {
    static func run() async throws {
        let session = LanguageModelSession(instructions: "You plan trips on canals.")
        let response = try await session.respond(
            to: "Plan a trip for two.", generating: Voyage.self, options: Shaping.brief(160))
        show(response.content, indent: "")
        try expect((1...9).contains(response.content.days), "all guides hold")
        try expect(response.content.stops.count <= 2, "there are at most two stops")
    }

    private static func show(_ voyage: Voyage, indent: String) {
        print(
            indent + "\(voyage.title): \(voyage.days) days, \(voyage.kilometres) km, "
                + "\(voyage.rating), \(voyage.isByBoat ? "boat" : "bus"), \(voyage.stops), "
                + "with \(voyage.skipper.name) (\(voyage.skipper.age))")
        for trip in voyage.sideTrips { show(trip, indent: indent + "  ") }
    }
}
