import FoundationModels

// Kind 23: the types of nine small programs.

@Generable(description: "What was said at a meeting of the allotment club")
struct MeetingNotes {
    @Guide(description: "In one sentence")
    var gist: String
    @Guide(description: "Who does what", .maximumCount(2))
    var tasks: [String]
}

@Generable
struct PackingList {
    @Generable
    struct Thing {
        @Guide(.anyOf(["tent", "stove", "rope", "map"]))
        var name: String
        @Guide(.pattern(/[1-9] (pieces|metres)/))
        var amount: String
    }

    @Guide(.minimumCount(1), .maximumCount(3))
    var things: [Thing]
}

@Generable
struct DayEntry {
    @Generable
    enum Mood {
        case bright, calm, tired, bored, worried, cross, sad
    }

    var mood: Mood
    @Guide(description: "How strong", .range(1...5))
    var strength: Int
    @Guide(.maximumCount(3), .element(.anyOf(["rain", "work", "friends", "sleep"])))
    var causes: [String]
}

@Generable
struct Chore {
    var title: String
    var detail: String
    @Guide(description: "1 is the most urgent", .range(1...3))
    var rank: Int
}

@Generable
struct ChangeNote {
    @Generable
    enum Kind: String {
        case feature, fix, text, look, speed, test, upkeep
    }

    var kind: Kind
    @Guide(description: "What changed, at most ten words")
    var subject: String
    var area: String?
    var reason: String?
}

@Generable
struct MendedSentence {
    @Guide(description: "Without mistakes")
    var sentence: String
    @Guide(.maximumCount(2))
    var changes: [String]
    @Guide(description: "How sure", .range(1...5))
    var certainty: Int
}

@Generable
struct CatalogueEntry {
    @Guide(.minimumCount(1), .maximumCount(2), .element(.anyOf(["oak", "glass", "steel"])))
    var materials: [String]
    @Guide(.anyOf(["red", "blue", "natural"]))
    var colour: String?
    @Guide(description: "Words for the search", .maximumCount(5))
    var keywords: [String]
}

@Generable
struct BikeTrouble {
    @Generable
    enum Part {
        case chain, brake, tyre, light, saddle, pedal, gear, bell, frame
    }

    var part: Part
    @Guide(.anyOf(["left", "right", "front", "rear"]))
    var side: String
    var noise: String
    @Guide(description: "How bad", .range(1...10))
    var severity: Int
}

@Generable
struct HelpRequest {
    @Generable
    enum Subject {
        case bill, delivery, repair, account, praise, other
    }

    @Generable
    enum Channel {
        case letter, phone, counter, form
    }

    var subject: Subject
    @Guide(.range(1...5))
    var urgency: Int
    var channel: Channel
    @Guide(description: "In one sentence")
    var summary: String
}
