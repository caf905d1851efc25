import Synchronization
import Testing

@testable import SkeinSessions

@Suite("Schemas that are made at run time")
struct DynamicSchemaTests {
    typealias Dynamic = DynamicGenerationSchema

    @Test("a menu of today")
    func menu() throws {
        let dish = Dynamic(name: "Dish", anyOf: ["soup", "pie"])
        let order = Dynamic(
            name: "Order", description: "An order",
            properties: [
                .init(
                    name: "dishes", description: "All of them",
                    schema: .init(arrayOf: dish, minimumElements: 1, maximumElements: 2)),
                .init(name: "note", schema: .init(type: String.self), isOptional: true),
                .init(name: "count", schema: .init(type: Int.self, guides: [.range(1...9)])),
            ])
        #expect(
            try order.text() == """
                {"title":"Order","description":"An order","type":"object","properties":{"dishes":{\
                "description":"All of them","type":"array","items":{"$ref":"#/$defs/Dish"},\
                "minItems":1,"maxItems":2},"note":{"type":"string"},"count":{"type":"integer",\
                "minimum":1,"maximum":9}},"required":["dishes","count"],\
                "additionalProperties":false,"$defs":{"Dish":{"type":"string","enum":["soup",\
                "pie"]}}}
                """)
        let content = try GeneratedContent(json: #"{"dishes":["pie"],"count":2}"#)
        #expect(try content.value([String].self, forProperty: "dishes") == ["pie"])
    }

    @Test("an optional property may be null instead of being left out")
    func explicitNil() throws {
        func guest(_ isExplicit: Bool) -> Dynamic {
            let table = Dynamic(
                name: "Table", properties: [.init(name: "number", schema: .init(type: Int.self))])
            return Dynamic(
                name: "Guest", description: "Who eats",
                representNilExplicitlyInGeneratedContent: isExplicit,
                properties: [
                    .init(name: "name", schema: .init(type: String.self)),
                    .init(name: "wish", schema: .init(type: String.self), isOptional: true),
                    .init(name: "table", schema: table, isOptional: true),
                ])
        }
        let definitions =
            ##""$defs":{"Table":{"type":"object","properties":{"number":{"##
            + #""type":"integer"}},"required":["number"],"additionalProperties":false}}}"#
        #expect(
            try guest(true).text() == """
                {"title":"Guest","description":"Who eats","type":"object","properties":{"name":{\
                "type":"string"},"wish":{"anyOf":[{"type":"string"},{"type":"null"}]},"table":{\
                "anyOf":[{"$ref":"#/$defs/Table"},{"type":"null"}]}},"required":["name","wish",\
                "table"],"additionalProperties":false,
                """ + definitions)
        #expect(
            try guest(false).text() == """
                {"title":"Guest","description":"Who eats","type":"object","properties":{"name":{\
                "type":"string"},"wish":{"type":"string"},"table":{"$ref":"#/$defs/Table"}},\
                "required":["name"],"additionalProperties":false,
                """ + definitions)
    }

    @Test("schemas refer to each other, to the root and to types by name")
    func references() throws {
        let node = Dynamic(
            name: "Node",
            properties: [
                .init(name: "next", schema: .init(referenceTo: "Node"), isOptional: true),
                .init(name: "leaf", schema: .init(referenceTo: "Leaf")),
                .init(name: "mood", schema: .init(referenceTo: "Mood")),
            ])
        let leaf = Dynamic(
            name: "Leaf",
            anyOf: [
                Dynamic.null, .init(type: Int.self), .init(arrayOf: .init(referenceTo: "Leaf")),
            ])
        #expect(
            try node.text(leaf, Dynamic(type: Mood.self)) == """
                {"title":"Node","type":"object","properties":{"next":{"$ref":"#"},"leaf":{\
                "$ref":"#/$defs/Leaf"},"mood":{"$ref":"#/$defs/Mood"}},"required":["leaf","mood"],\
                "additionalProperties":false,"$defs":{"Leaf":{"anyOf":[{"type":"null"},{\
                "type":"integer"},{"type":"array","items":{"$ref":"#/$defs/Leaf"}}]},"Mood":{\
                "type":"string","enum":["good","goodEnough","bad"]}}}
                """)
        #expect(
            try Dynamic(referenceTo: "Leaf").text(leaf).contains(##""items":{"$ref":"#"}"##))
        #expect(try Dynamic(type: Trip.self).text() == Trip.generationSchema.jsonText())
    }

    @Test("a part may be used in several places, and a name may have any characters")
    func parts() throws {
        let part = Dynamic(name: "A part/é#", properties: [])
        let root = Dynamic(
            name: "Root",
            properties: [.init(name: "a", schema: part), .init(name: "b", schema: part)])
        let text = try root.text()
        #expect(
            text.contains(##""a":{"$ref":"#/$defs/A_part___"},"b":{"$ref":"#/$defs/A_part___"}"##))
        #expect(text.contains(#""A_part___":{"title":"A part/é#","#))
    }

    @Test("a part that is made twice alike is one, and many uses of parts cost nothing")
    func copies() throws {
        func part() -> Dynamic { Dynamic(name: "Part", anyOf: ["x"]) }
        let root = Dynamic(
            name: "Root",
            properties: [.init(name: "a", schema: part()), .init(name: "b", schema: part())])
        #expect(try root.text().contains(##""b":{"$ref":"#/$defs/Part"}"##))
        // Written out, this were 2^40 parts.
        var all = part()
        for level in 0..<40 {
            all = Dynamic(
                name: "Level\(level)",
                properties: [.init(name: "a", schema: all), .init(name: "b", schema: all)])
        }
        #expect(try all.text().contains(##""Level0":{"type":"object""##))
    }

    @Test("two schemas with parts of the same name do not meet")
    func scopes() throws {
        func schema(_ choice: String) throws -> GenerationSchema {
            let part = Dynamic(name: "Part", anyOf: [choice])
            return try GenerationSchema(
                root: Dynamic(name: "Root", properties: [.init(name: "a", schema: part)]),
                dependencies: [])
        }
        First.schema.set(try schema("one"))
        Second.schema.set(try schema("two"))
        let text = try Dynamic(
            name: "Pair",
            properties: [
                .init(name: "a", schema: .init(type: First.self)),
                .init(name: "b", schema: .init(type: Second.self)),
            ]
        ).text()
        #expect(
            text.hasSuffix(
                ##"""
                "$defs":{"Root":{"type":"object","properties":{"a":{"$ref":"#/$defs/Part"}},
                "required":["a"],"additionalProperties":false},"Root2":{"title":"Root",
                "type":"object","properties":{"a":{"$ref":"#/$defs/Part2"}},"required":["a"],
                "additionalProperties":false},"Part":{"type":"string","enum":["one"]},
                "Part2":{"title":"Part","type":"string","enum":["two"]}}}
                """##.replacing("\n", with: "")))
    }
}

/// A schema that a test sets.
private final class Setting: Sendable {
    private let value = Mutex(String.generationSchema)
    func set(_ schema: GenerationSchema) { value.withLock { $0 = schema } }
    var get: GenerationSchema { value.withLock { $0 } }
}

private struct First: Generable {
    static let schema = Setting()
    static var generationSchema: GenerationSchema { schema.get }
    var generatedContent: GeneratedContent { GeneratedContent(properties: [:]) }
    init(_ content: GeneratedContent) throws {}
}

private struct Second: Generable {
    static let schema = Setting()
    static var generationSchema: GenerationSchema { schema.get }
    var generatedContent: GeneratedContent { GeneratedContent(properties: [:]) }
    init(_ content: GeneratedContent) throws {}
}
