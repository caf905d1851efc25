import Foundation
import SkeinSessions
import Testing

@Suite struct MacroSchemaTests {
    /// The schema of a type as JSON, with sorted keys.
    private func schema(_ type: any Generable.Type) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(type.generationSchema), as: UTF8.self)
    }

    @Test("a schema is the one that is written by hand")
    func byHand() throws {
        typealias Property = GenerationSchema.Property
        let hand = GenerationSchema(
            type: MacroTypes.Cat.self, description: "A cat with a \"name\"",
            properties: [
                Property(
                    name: "name", description: "Short", type: String.self,
                    guides: [.pattern(source: "[A-Z][a-z]+")]),
                Property(
                    name: "age", description: "In years", type: Int.self, guides: [.range(0...30)]),
                Property(name: "weight", type: Double.self),
                Property(name: "isTame", type: Bool.self),
                Property(name: "mood", type: String?.self, guides: [.anyOf(["calm", "wild"])]),
                Property(
                    name: "scores", type: [Int].self,
                    guides: [.minimumCount(1), .maximumCount(4), .element(.minimum(0))]),
                Property(name: "default", type: [String]?.self),
            ])
        #expect(MacroTypes.Cat.generationSchema == hand)
    }

    @Test("an enum's schema has its cases")
    func enums() throws {
        #expect(
            MacroTypes.Colour.generationSchema
                == GenerationSchema(
                    type: MacroTypes.Colour.self, anyOf: ["rot", "green", "a \"quoted\" one"]))
        let drawing = try schema(MacroTypes.Drawing.self)
        for word in ["nothing", "circle", "radius", "value1", "group", "What to draw"] {
            #expect(drawing.contains("\"\(word)\""))
        }
    }

    @Test("a schema of a type that leads back to itself ends")
    func recursion() throws {
        let tree = try schema(MacroTypes.Tree.self)
        #expect(tree.contains("\"children\""))
        #expect(!tree.contains("\"id\""))
    }

    @Test("null is allowed where nil is written")
    func explicitNil() throws {
        #expect(try schema(MacroTypes.Explicit.self).contains("null"))
        #expect(try !schema(MacroTypes.Cat.self).contains("null"))
    }
}
