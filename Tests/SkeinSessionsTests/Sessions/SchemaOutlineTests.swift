import Foundation
import Testing

@testable import SkeinSessions

@Suite("What a prompt says of a schema")
struct SchemaOutlineTests {
    private func outline(_ schema: GenerationSchema) throws -> String {
        SchemaOutline(try schema.json()).text
    }

    @Test("Names and descriptions, and nothing that the grammar holds anyway")
    func names() throws {
        #expect(
            try SchemaBlock(Review.generationSchema).text
                == "\n\nGive A book review {rating, summary} as JSON.")
        #expect(
            try outline(AskedContact.generationSchema) == """
                {name (The person's full name), age (Age in years), \
                town (The town where the person lives)}
                """)
        #expect(
            try outline(AskedJourney.generationSchema) == """
                A journey from one place to another {from {city, country} (Where it begins), \
                to (Where it ends)}
                """)
        #expect(try outline(Trip.generationSchema) == "{title (Short), mood, stops}")
        #expect(try outline([Person].generationSchema) == "[{name, age}]")
    }

    @Test("Choices of objects, and values that are no objects")
    func others() throws {
        #expect(
            try outline(Shape.generationSchema) == """
                A drawing {type: circle, radius} or {type: label, value, size} or {type: nothing}
                """)
        #expect(try outline(Mood.generationSchema) == "good or goodEnough or bad")
        #expect(try outline(String.generationSchema) == "a text")
        #expect(try outline([Int].generationSchema) == "a list")
        #expect(try outline(GeneratedContent.generationSchema) == "a value")
    }

    @Test("It is never longer than the schema, whatever the schema refers to")
    func bounded() throws {
        // Each level refers twice to the next one: spelled out they would be 2 to the 40 places.
        var levels: [DynamicGenerationSchema] = []
        for level in 0..<40 {
            let next = DynamicGenerationSchema(referenceTo: "L\(level + 1)")
            levels.append(
                DynamicGenerationSchema(
                    name: "L\(level)",
                    properties: [.init(name: "a", schema: next), .init(name: "b b", schema: next)]))
        }
        levels.append(
            DynamicGenerationSchema(
                name: "L40", properties: [.init(name: "c", schema: .init(type: Int.self))]))
        let schema = try GenerationSchema(root: levels[0], dependencies: Array(levels.dropFirst()))
        let text = try outline(schema)
        #expect(text.hasPrefix("{a {a {a "))
        #expect(text.contains(#", "b b"}"#))
        #expect(text.utf8.count < (try schema.jsonText()).utf8.count)
    }
}
