import Foundation
import Synchronization
import Testing

@testable import SkeinSessions

@Suite("Schemas as JSON")
struct SchemaTextTests {
    @Test("a struct is an object with its properties in order")
    func structs() throws {
        #expect(
            try Review.generationSchema.jsonText() == """
                {"title":"Review","description":"A book review","type":"object","properties":{\
                "rating":{"type":"integer","minimum":1,"maximum":5},"summary":{"type":"string"}},\
                "required":["rating","summary"],"additionalProperties":false}
                """)
    }

    @Test("an enum is a list of texts, one with values a choice of objects")
    func enums() throws {
        #expect(
            try Mood.generationSchema.jsonText()
                == #"{"title":"Mood","type":"string","enum":["good","goodEnough","bad"]}"#)
        #expect(
            try Shape.generationSchema.jsonText() == """
                {"title":"Shape","description":"A drawing","anyOf":[{"type":"object","properties":{\
                "type":{"const":"circle"},"radius":{"type":"number","minimum":0}},\
                "required":["type","radius"],"additionalProperties":false},{"type":"object",\
                "properties":{"type":{"const":"label"},"value":{"type":"string"},\
                "size":{"type":"integer"}},"required":["type","value"],\
                "additionalProperties":false},{"type":"object","properties":{\
                "type":{"const":"nothing"}},"required":["type"],"additionalProperties":false}]}
                """)
    }

    @Test("a type that leads back to itself refers to the whole, others stand in $defs")
    func recursion() throws {
        #expect(
            try Trip.generationSchema.jsonText() == """
                {"title":"Trip","type":"object","properties":{"title":{"description":"Short",\
                "type":"string"},"mood":{"$ref":"#/$defs/Mood"},"stops":{"type":"array","items":{\
                "$ref":"#"},"maxItems":3}},"required":["title","stops"],\
                "additionalProperties":false,"$defs":{"Mood":{"type":"string","enum":["good",\
                "goodEnough","bad"]}}}
                """)
        #expect(
            try [Trip].generationSchema.jsonText().hasPrefix(
                ##"{"type":"array","items":{"$ref":"#/$defs/Trip"},"$defs":{"Trip":{"type":"##))
    }

    @Test("types that come with the library")
    func plainTypes() throws {
        let schemas: [(any Generable.Type, String)] = [
            (String.self, #"{"type":"string"}"#), (Int.self, #"{"type":"integer"}"#),
            (Float.self, #"{"type":"number"}"#), (Double.self, #"{"type":"number"}"#),
            (Decimal.self, #"{"type":"number"}"#), (Bool.self, #"{"type":"boolean"}"#),
            (GeneratedContent.self, "{}"), (Never.self, #"{"enum":[]}"#),
            (
                [[Bool]].self,
                #"{"type":"array","items":{"type":"array","items":{"type":"boolean"}}}"#
            ),
        ]
        for (type, text) in schemas {
            #expect(try type.generationSchema.jsonText() == text)
        }
    }

    @Test("nil is left out, or null where that is asked for")
    func optionals() throws {
        let properties: [GenerationSchema.Property] = [
            .init(name: "a", type: String?.self), .init(name: "b", type: Int.self),
        ]
        let leftOut = GenerationSchema(type: Review.self, properties: properties)
        #expect(try leftOut.jsonText().contains(#""required":["b"]"#))
        let explicit = GenerationSchema(
            type: Review.self, representNilExplicitlyInGeneratedContent: true,
            properties: properties)
        #expect(
            try explicit.jsonText().contains(
                #"{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"type":"integer"}}"#))
        #expect(try explicit.jsonText().contains(#""required":["a","b"]"#))
        #expect(
            try GenerationSchema(type: Review.self, properties: []).jsonText()
                == """
                {"title":"Review","type":"object","properties":{},"additionalProperties":false}
                """)
    }

    @Test("every guide becomes a keyword")
    func guides() throws {
        func text<Value: Generable>(_ guides: GenerationGuide<Value>...) throws -> String {
            try DynamicGenerationSchema(type: Value.self, guides: guides).text()
        }
        typealias Strings = GenerationGuide<String>
        #expect(try text(Strings.constant("a")) == #"{"type":"string","enum":["a"]}"#)
        #expect(
            try text(Strings.anyOf(["a", "b", "a"])) == #"{"type":"string","enum":["a","b"]}"#)
        #expect(
            try text(Strings.anyOf(["a", "b", "c"]), .anyOf(["c", "b"]))
                == #"{"type":"string","enum":["b","c"]}"#)
        #expect(
            try text(Strings.pattern(/[A-Z]{3}\d+/))
                == #"{"type":"string","pattern":"^(?:[A-Z]{3}\\d+)$"}"#)
        #expect(
            try text(Strings.pattern(#/a/b|c/#)) == #"{"type":"string","pattern":"^(?:a/b|c)$"}"#)
        #expect(
            try text(Strings.pattern(try Regex(#"\w+"#)))
                == #"{"type":"string","pattern":"^(?:\\w+)$"}"#)
        #expect(
            try text(Strings.pattern(source: #"a\.b"#), .pattern(source: "x*"))
                == #"{"type":"string","pattern":"^(?:a\\.b)$","allOf":[{"pattern":"^(?:x*)$"}]}"#)
        #expect(
            try text(GenerationGuide<Int>.range(-1...Int.max))
                == #"{"type":"integer","minimum":-1,"maximum":9223372036854775807}"#)
        #expect(
            try text(GenerationGuide<Int>.minimum(1), .maximum(9), .minimum(3), .maximum(20))
                == #"{"type":"integer","minimum":3,"maximum":9}"#)
        #expect(try text(GenerationGuide<Int>.range(4...4)) == #"{"type":"integer","enum":[4]}"#)
        #expect(
            try text(GenerationGuide<Double>.range(0...0.1))
                == #"{"type":"number","minimum":0,"maximum":0.1}"#)
        #expect(
            try text(GenerationGuide<Double>.minimum(-.infinity), .maximum(.infinity))
                == #"{"type":"number"}"#)
        #expect(
            try text(GenerationGuide<Float>.range(0.1...0.2))
                == #"{"type":"number","minimum":0.1,"maximum":0.2}"#)
        #expect(
            try text(GenerationGuide<Float>.minimum(3e38))
                == """
                {"type":"number","minimum":300000000000000000000000000000000000000,\
                "maximum":340282350000000000000000000000000000000}
                """)
        #expect(
            try text(GenerationGuide<Decimal>.maximum(Decimal(5) / Decimal(4)))
                == #"{"type":"number","maximum":1.25}"#)
        #expect(
            try text(GenerationGuide<[String]>.count(3))
                == #"{"type":"array","items":{"type":"string"},"minItems":3,"maxItems":3}"#)
        #expect(
            try text(GenerationGuide<[String]>.count(0...2), .minimumCount(1))
                == #"{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2}"#)
        #expect(
            try text(
                GenerationGuide<[[Int]]>.maximumCount(2),
                .element(.minimumCount(1)), .element(.element(.range(0...9))))
                    == """
                    {"type":"array","items":{"type":"array","items":{"type":"integer","minimum":0,\
                    "maximum":9},"minItems":1},"maxItems":2}
                    """)
    }

    @Test("bounds that no number of 15 digits lies between allow the bounds")
    func narrowBounds() throws {
        let sum = 0.1 + 0.2
        #expect(
            try DynamicGenerationSchema(type: Double.self, guides: [.range(sum...sum)]).text()
                == #"{"type":"number","enum":[0.30000000000000004]}"#)
        #expect(
            try DynamicGenerationSchema(type: Double.self, guides: [.range(sum...sum.nextUp)])
                .text()
                == #"{"type":"number","enum":[0.30000000000000004,0.3000000000000001]}"#)
        #expect(
            try DynamicGenerationSchema(type: Double.self, guides: [.range(1e-300...2e-300)]).text()
                == #"{"type":"number","enum":[1e-300,2e-300]}"#)
    }

    @Test("guides type-check where macros put them")
    func guidesOfProperties() throws {
        let properties: [GenerationSchema.Property] = [
            .init(
                name: "a", type: [String].self, guides: [.count(3), .element(.anyOf(["x", "y"]))]),
            .init(name: "b", type: [Review]?.self, guides: [.minimumCount(1), .maximumCount(2)]),
            .init(name: "c", type: String.self, guides: [/a+/]),
            .init(name: "d", type: String?.self, guides: [/b+/]),
            .init(name: "e", type: Double?.self, guides: [.range(0...1)]),
            .init(name: "f", type: Float.self, guides: [.minimum(0.5)]),
            .init(name: "g", type: String.self, guides: [.pattern(/c/)]),
        ]
        let text = try GenerationSchema(type: Mood.self, properties: properties).jsonText()
        #expect(text.contains(#""c":{"type":"string","pattern":"^(?:a+)$"}"#))
        #expect(text.contains(#""required":["a","c","f","g"]"#))
        // How `@Guide` reads them, without a type around.
        func guide<Value: Generable>(_ guides: GenerationGuide<Value>...) -> String {
            "\(Value.self)"
        }
        #expect(guide(.count(3)) == "Array<Never>")
        #expect(guide(.minimumCount(1), .maximumCount(3)) == "Array<Never>")
        #expect(guide(.count(1...3)) == "Array<Never>")
        #expect(guide(.range(1...3)) == "Int")
        #expect(guide(.minimum(0.5)) == "Double")
        #expect(guide(.element(.anyOf(["a"]))) == "Array<String>")
        #expect(guide(.anyOf(["a"]), .constant("a")) == "String")
    }

    @Test("types of one name have names of their own, in order of appearance")
    func names() throws {
        let text = try Clash.generationSchema.jsonText()
        #expect(text.contains(##""a":{"$ref":"#/$defs/Item"}"##))
        #expect(text.contains(##""b":{"$ref":"#/$defs/Item2"}"##))
        #expect(text.contains(##""c":{"$ref":"#/$defs/Item"}"##))
        #expect(text.contains(##""d":{"$ref":"#/$defs/Clash2"}"##))
        #expect(text.contains(##""e":{"$ref":"#/$defs/Box_Int_"}"##))
        #expect(text.contains(#""Item2":{"title":"Item","type":"object""#))
        #expect(text.contains(#""Box_Int_":{"title":"Box<Int>","#))
        #expect(text == (try Clash.generationSchema.jsonText()))
    }

    @Test("names of private and local types have no address in them")
    func privateNames() throws {
        struct Local: Listed { static var listed: [GenerationSchema.Property] { [] } }
        for type in [Local.self, Hidden.self, Box<Hidden>.self] as [any Generable.Type] {
            let text = try type.generationSchema.jsonText()
            #expect(!text.contains("unknown context") && !text.contains("0x"), "\(text)")
        }
        #expect(Local.generationSchema.name == "Local")
        #expect(Box<Hidden>.generationSchema.name == "Box<Hidden>")
    }

    private struct Hidden: Listed { static var listed: [GenerationSchema.Property] { [] } }

    @Test("a type is asked once for each schema, from any number of threads")
    func laziness() async throws {
        let schema = Counted.generationSchema
        #expect(Counted.count.value == 0)
        let first = try schema.jsonText()
        #expect(Counted.count.value == 1)
        let others = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<50 { group.addTask { try? schema.jsonText() } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(others == [first])
        #expect(Counted.count.value == 1)
    }

    @Test("a schema in JSON stands inside of others, with what it refers to")
    func documents() throws {
        let text = try GenerationSchema(
            type: Mood.self,
            properties: [.init(name: "a", type: Read.self), .init(name: "b", type: [Read].self)]
        ).jsonText()
        #expect(
            text == """
                {"title":"Mood","type":"object","properties":{"a":{"$ref":"#/$defs/Node"},"b":{\
                "type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["a","b"],\
                "additionalProperties":false,"$defs":{"Node":{"title":"Node","type":"object",\
                "properties":{"next":{"$ref":"#/$defs/Node"},"leaf":{\
                "$ref":"#/$defs/Node/$defs/leaf"}},"$defs":{"leaf":{"type":"string"}}}}}
                """)
    }
}

extension DynamicGenerationSchema {
    /// The schema's JSON.
    func text(_ dependencies: DynamicGenerationSchema...) throws -> String {
        try GenerationSchema(root: self, dependencies: dependencies).jsonText()
    }
}

private struct Clash: Listed {
    struct Item: Listed { static var listed: [GenerationSchema.Property] { [] } }

    enum Other {
        struct Item: Listed { static var listed: [GenerationSchema.Property] { [] } }
        struct Clash: Listed { static var listed: [GenerationSchema.Property] { [] } }
    }

    static var listed: [GenerationSchema.Property] {
        [
            .init(name: "a", type: Item.self), .init(name: "b", type: Other.Item.self),
            .init(name: "c", type: Item.self), .init(name: "d", type: Other.Clash.self),
            .init(name: "e", type: Box<Int>.self),
        ]
    }
}

private struct Box<Value: Sendable>: Listed {
    static var listed: [GenerationSchema.Property] { [] }
}

private final class Count: Sendable {
    private let number = Mutex(0)
    var value: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
}

private struct Counted: Listed {
    static let count = Count()

    struct Part: Listed {
        static var listed: [GenerationSchema.Property] {
            count.add()
            return []
        }
    }

    static var listed: [GenerationSchema.Property] {
        [.init(name: "a", type: Part.self), .init(name: "b", type: [Part].self)]
    }
}

/// A type whose schema was read as JSON.
private struct Read: Generable {
    static var generationSchema: GenerationSchema {
        let text = ##"""
            {"title":"Node","type":"object","properties":{"next":{"$ref":"#"},
            "leaf":{"$ref":"#/$defs/leaf"}},"$defs":{"leaf":{"type":"string"}}}
            """##
        return (try? GenerationSchema(jsonText: text)) ?? String.generationSchema
    }
    var generatedContent: GeneratedContent { GeneratedContent(properties: [:]) }
    init(_ content: GeneratedContent) throws {}
}
