import Foundation
import Testing

@testable import SkeinSessions

@Suite("Coded schemas")
struct SchemaCodingTests {
    private func schemas() throws -> [GenerationSchema] {
        [
            Review.generationSchema, Mood.generationSchema, Shape.generationSchema,
            Trip.generationSchema, [Trip].generationSchema, String.generationSchema,
            GeneratedContent.generationSchema,
            GenerationSchema(
                type: Review.self,
                properties: [
                    .init(name: "z", type: Int.self, guides: [.range(Int.min...Int.max)]),
                    .init(name: "properties", type: Double.self, guides: [.range(0.1...1e300)]),
                    .init(name: "x-order", type: [Mood].self, guides: [.count(2)]),
                    .init(name: "a", type: Decimal.self, guides: [.minimum(try decimal())]),
                    .init(name: "$ref", type: Shape?.self),
                    .init(name: "é", type: String.self, guides: [/a|b/]),
                    .init(name: "m", type: Trip.self),
                ]),
        ]
    }

    private func decimal() throws -> Decimal {
        try Decimal(GeneratedContent(json: "12345678901234567890.123456789012345678"))
    }

    @Test("a schema comes back from its coded form as it was")
    func roundTrip() throws {
        for schema in try schemas() {
            for sorts in [true, false] {
                let encoder = JSONEncoder()
                encoder.outputFormatting = sorts ? [.sortedKeys] : []
                let data = try encoder.encode(schema)
                let decoded = try JSONDecoder().decode(GenerationSchema.self, from: data)
                #expect(try decoded.jsonText() == schema.jsonText())
                #expect(decoded == schema)
            }
        }
        let all = try schemas()
        #expect(all[0] != all[1])
    }

    @Test("numbers of a schema are coded without an exponent, and property lists keep them")
    func numbers() throws {
        let text =
            #"{"enum":[null,0.5,1e-7,1e20,18446744073709551615,1e300,"0.1234567890123456789"],"#
            + #""minimum":0.1234567890123456789}"#
        let schema = try JSONDecoder().decode(GenerationSchema.self, from: Data(text.utf8))
        let coded = String(decoding: try JSONEncoder().encode(schema), as: UTF8.self)
        for number in [
            "[null,0.5,0.0000001,100000000000000000000,18446744073709551615,1e+300,",
            ":0.1234567890123456789",
        ] { #expect(coded.contains(number), "\(coded)") }
        #expect(try schema.jsonText().contains("100000000000000000000,18446744073709551615,1e300,"))
        let list = try PropertyListEncoder().encode(schema)
        let again = try PropertyListDecoder().decode(GenerationSchema.self, from: list)
        #expect(try again.jsonText() == schema.jsonText())
    }

    @Test("the coded form is JSON Schema, with the order of properties")
    func form() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let text = String(decoding: try encoder.encode(Review.generationSchema), as: UTF8.self)
        #expect(
            text == """
                {"additionalProperties":false,"description":"A book review","properties":{\
                "rating":{"maximum":5,"minimum":1,"type":"integer"},"summary":{"type":"string"}},\
                "required":["rating","summary"],"title":"Review","type":"object",\
                "x-order":["rating","summary"]}
                """)
    }

    @Test("what is no schema is refused", arguments: ["[]", "1", "null", "\"a\""])
    func refused(_ text: String) {
        #expect(
            throws: DecodingError.self,
            performing: {
                try JSONDecoder().decode(GenerationSchema.self, from: Data(text.utf8))
            })
        #expect(
            throws: DecodingError.self, performing: { try GenerationSchema(jsonText: text) })
    }

    @Test("a schema that is nested too deep is refused")
    func depth() {
        let text =
            String(repeating: #"{"items":"#, count: 200) + "{}"
            + String(repeating: "}", count: 200)
        #expect(
            throws: DecodingError.self,
            performing: {
                try JSONDecoder().decode(GenerationSchema.self, from: Data(text.utf8))
            })
        #expect(throws: (any Error).self, performing: { try GenerationSchema(jsonText: text) })
    }

    @Test("a schema that contradicts itself is not coded, and says why when it is printed")
    func contradiction() {
        let schema = GenerationSchema(
            type: Review.self,
            properties: [.init(name: "a", type: [Int].self, guides: [.count(-1)])])
        #expect(
            throws: GenerationSchema.SchemaError.self,
            performing: { try JSONEncoder().encode(schema) }
        )
        #expect(
            schema.debugDescription
                == "invalid schema: Review.a: a guide cannot be used: -1 is no number of elements")
        #expect(Review.generationSchema.debugDescription.hasPrefix("{\"title\":\"Review\""))
        #expect(schema == schema && schema != Review.generationSchema)
    }

    @Test("A schema without an order is the same however its text orders it, and in each process")
    func unordered() throws {
        let texts = [
            #"{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"},"c":{"type":"string"}},"required":["a"]}"#,
            #"{"required":["a"],"properties":{"c":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"}},"type":"object"}"#,
        ]
        let schemas = try texts.map {
            try JSONDecoder().decode(GenerationSchema.self, from: Data($0.utf8))
        }
        #expect(try schemas[0].jsonText() == schemas[1].jsonText())
        #expect(schemas[0] == schemas[1])
        let json = try schemas[0].jsonText()
        let places = ["\"a\":{", "\"b\":{", "\"c\":{"].map { json.range(of: $0)?.lowerBound }
        #expect(places.allSatisfy { $0 != nil })
        #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted())
    }
}
