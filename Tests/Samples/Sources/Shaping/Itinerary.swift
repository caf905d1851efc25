import FoundationModels
import SampleRunner

/// Kind 19: a plan of days of activities, for places that are known at run time only.
@Generable
struct Itinerary {
    @Guide(description: "A name that makes one want to go", .anyOf(["Three peaks", "Two huts"]))
    var title: String
    @Guide(.anyOf(HutBook.shared.names))
    var destination: String
    @Guide(description: "One short sentence")
    var description: String
    @Guide(description: "Why it suits this person")
    var rationale: String
    @Guide(description: "One entry a day", .count(2))
    var days: [Day]

    @Generable
    struct Day {
        @Guide(.anyOf(["Up", "Along", "Down"]))
        var title: String
        @Guide(.pattern(/[A-Z][a-z]{2,8}/))
        var subtitle: String
        @Guide(.anyOf(HutBook.shared.names))
        var destination: String
        @Guide(.count(1...2))
        var activities: [Activity]
    }

    @Generable
    struct Activity {
        var kind: Kind
        @Guide(.anyOf(["Ridge", "Lake", "Dairy"]))
        var title: String
        @Guide(.maximumWords)
        var description: String
    }

    @Generable
    enum Kind {
        case walk
        case climb
        case meal
        case rest
    }
}

extension GenerationGuide where Value == String {
    /// At most three words, as a guide of one's own.
    static var maximumWords: GenerationGuide<String> {
        .pattern(/[a-z]{2,7}( [a-z]{2,7}){0,2}/)
    }
}

/// The huts that are open.
struct HutBook {
    static let shared = HutBook(names: ["Birkenhütte", "Seealm", "Hochjoch"])
    let names: [String]
}

enum ItinerarySample {
    static func run() async throws {
        let session = LanguageModelSession {
            "You plan walks from hut to hut."
            "Use these huts alone:"
            HutBook.shared.names
        }
        let response = try await session.respond(
            to: "Plan two days for somebody who likes lakes.", generating: Itinerary.self,
            options: Shaping.brief(256))
        let plan = response.content
        print("\(plan.title) at \(plan.destination): \(plan.description)")
        for day in plan.days {
            print("  \(day.title), \(day.subtitle), \(day.destination)")
            for activity in day.activities {
                print("    \(activity.kind): \(activity.title), \(activity.description)")
            }
        }
        if !response.wasClosedEarly {
            try expect(plan.days.count == 2, "there are two days")
            try expect(
                plan.days.allSatisfy { HutBook.shared.names.contains($0.destination) },
                "all huts are in the book")
        }
    }
}
