import Foundation
import SkeinSessions

// Types that conform to Generable by hand, as docs/GENERABLE.md shows it.

/// Twelve lines: a struct.
struct Review: Equatable {
    var rating: Int
    var summary: String
}

extension Review: Generable {
    static var generationSchema: GenerationSchema {
        GenerationSchema(
            type: Self.self, description: "A book review",
            properties: [
                .init(name: "rating", type: Int.self, guides: [.range(1...5)]),
                .init(name: "summary", type: String.self),
            ])
    }
    var generatedContent: GeneratedContent {
        GeneratedContent(properties: ["rating": rating, "summary": summary])
    }
    init(_ content: GeneratedContent) throws {
        rating = try content.value(forProperty: "rating")
        summary = try content.value(forProperty: "summary")
    }
}

/// An enum whose cases have no values.
enum Mood: String, Generable, CaseIterable {
    case good
    case goodEnough
    case bad

    static var generationSchema: GenerationSchema {
        GenerationSchema(type: Self.self, anyOf: allCases.map(\.rawValue))
    }
    var generatedContent: GeneratedContent { GeneratedContent(rawValue) }
    init(_ content: GeneratedContent) throws {
        guard let mood = Mood(rawValue: try content.value(String.self)) else {
            throw content.unknownCase(of: Self.self)
        }
        self = mood
    }
}

/// An enum whose cases have values.
enum Shape: Generable, Equatable {
    case circle(radius: Double)
    case label(String, size: Int?)
    case nothing

    static var generationSchema: GenerationSchema {
        GenerationSchema(
            type: Self.self, description: "A drawing",
            cases: [
                .init(
                    name: "circle",
                    properties: [.init(name: "radius", type: Double.self, guides: [.minimum(0)])]),
                .init(
                    name: "label",
                    properties: [
                        .init(name: "value", type: String.self),
                        .init(name: "size", type: Int?.self),
                    ]),
                .init(name: "nothing"),
            ])
    }
    var generatedContent: GeneratedContent {
        var writer = PropertyWriter()
        switch self {
        case .circle(let radius):
            writer.write("type", "circle")
            writer.write("radius", radius)
        case .label(let value, let size):
            writer.write("type", "label")
            writer.write("value", value)
            writer.write("size", size)
        case .nothing: writer.write("type", "nothing")
        }
        return writer.content
    }
    init(_ content: GeneratedContent) throws {
        switch try content.caseName() {
        case "circle": self = .circle(radius: try content.value(forProperty: "radius"))
        case "label":
            self = .label(
                try content.value(forProperty: "value"),
                size: try content.value(forProperty: "size"))
        case "nothing": self = .nothing
        default: throw content.unknownCase(of: Self.self)
        }
    }
}

/// A struct that leads back to itself, with a partial form of its own.
struct Trip: Generable, Equatable {
    var title: String
    var mood: Mood?
    var stops: [Trip]

    static var generationSchema: GenerationSchema {
        GenerationSchema(
            type: Self.self,
            properties: [
                .init(name: "title", description: "Short", type: String.self),
                .init(name: "mood", type: Mood?.self),
                .init(name: "stops", type: [Trip].self, guides: [.maximumCount(3)]),
            ])
    }
    var generatedContent: GeneratedContent {
        GeneratedContent(properties: ["title": title, "mood": mood, "stops": stops])
    }
    func asPartiallyGenerated() -> PartiallyGenerated {
        PartiallyGenerated(
            id: GenerationID(), title: title, mood: mood, stops: stops.asPartiallyGenerated())
    }

    struct PartiallyGenerated: Identifiable, ConvertibleFromGeneratedContent, Sendable {
        var id: GenerationID
        var title: String?
        var mood: Mood?
        var stops: [Trip.PartiallyGenerated]?
    }
}

extension Trip {
    init(_ content: GeneratedContent) throws {
        title = try content.value(forProperty: "title")
        mood = try content.value(forProperty: "mood")
        stops = try content.value(forProperty: "stops")
    }
}

extension Trip.PartiallyGenerated {
    init(_ content: GeneratedContent) throws {
        id = content.id ?? GenerationID()
        title = try content.value(forProperty: "title")
        mood = try content.value(forProperty: "mood")
        stops = try content.value(forProperty: "stops")
    }
}

/// A type of properties that a test lists.
protocol Listed: Generable {
    static var listed: [GenerationSchema.Property] { get }
    init()
}

extension Listed {
    static var generationSchema: GenerationSchema {
        GenerationSchema(type: Self.self, properties: listed)
    }
    var generatedContent: GeneratedContent { GeneratedContent(properties: [:]) }
    init(_ content: GeneratedContent) throws { self.init() }
}
