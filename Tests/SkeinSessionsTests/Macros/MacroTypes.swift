import Foundation
import SkeinSessions

/// Types that `@Generable` makes generable, apart from those of the same names that do it by hand.
enum MacroTypes {}

extension MacroTypes {
    static let moods = ["calm", "wild"]

    @Generable(description: "A cat with a \"name\"")
    struct Cat: Equatable {
        @Guide(description: "Short", /[A-Z][a-z]+/) var name: String
        @Guide(description: "In years", .range(0...30))
        var age: Int
        var weight: Double = 4.5
        var isTame: Bool
        @Guide(.anyOf(MacroTypes.moods)) var mood: String?
        @Guide(.minimumCount(1), .maximumCount(4), .element(.minimum(0))) var scores: [Int]
        var `default`: [String]?
        let legs = 4
        static let kingdom = "animals"
        var initial: String { String(name.prefix(1)) }
    }

    @Generable
    enum Colour: String, CaseIterable {
        case red = "rot"
        case green
        case `default` = "a \"quoted\" one"
    }

    @Generable(description: "What to draw")
    enum Drawing: Equatable {
        case nothing
        case circle(radius: Double, Colour?)
        case pair(Int, Int)
        indirect case group(of: [Drawing], first: Drawing? = nil)
        case cat(Cat)
    }

    @Generable
    struct Tree: Equatable {
        var id: GenerationID
        var value: Int
        var children: [Self]
        var colour: Colour?
    }

    @Generable(representNilExplicitlyInGeneratedContent: true)
    struct Explicit: Equatable {
        var a: String?
        var b: Int?
        var c: [Cat]?
    }

    @Generable
    struct Nothing: Equatable {}

    @Generable
    actor Counter {
        let count: Int
        let note: String?
        let fixed = 3
    }

    @Generable
    @MainActor
    struct Isolated {
        var name: String
        var parts: [Cat]
    }

    @Generable
    struct OwnID: Identifiable {
        var id: Int
    }
}
