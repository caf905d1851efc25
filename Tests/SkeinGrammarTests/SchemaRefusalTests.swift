import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinGrammar

@Suite("Schemas that are refused")
struct SchemaRefusalTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        var schema: String
        var error: GrammarError

        var testDescription: String { schema }
    }

    private static func refused(_ schema: String, _ error: GrammarError) -> Refusal {
        Refusal(schema: schema, error: error)
    }

    static let refusals: [Refusal] = [
        refused("{", .malformed(offset: 1)),
        refused(#"{"type":"string","type":"null"}"#, .malformed(offset: 17)),
        refused("3", .badKeyword(pointer: "", expected: "a schema: an object, true or false")),
        refused(#"{"not":{"type":"null"}}"#, .unsupported(pointer: "/not", reason: .keyword)),
        refused(
            #"{"properties":{"a":{"uniqueItems":true}}}"#,
            .unsupported(pointer: "/properties/a/uniqueItems", reason: .keyword)),
        // There are such numbers, though none that is written.
        refused(
            #"{"type":"number","exclusiveMinimum":0,"maximum":5e-324}"#,
            .unsupported(pointer: "", reason: .digits)),
        refused(
            #"{"type":"number","exclusiveMinimum":0.1,"exclusiveMaximum":0.100000000000001}"#,
            .unsupported(pointer: "", reason: .digits)),
        refused(
            #"{"type":"number","exclusiveMinimum":5e-324,"maximum":5e-324}"#, .empty(pointer: "")),
        refused(
            #"{"properties":{"a/b~c":{"if":true}}}"#,
            .unsupported(pointer: "/properties/a~1b~0c/if", reason: .keyword)),
        refused(
            #"{"type":"string","format":"iri"}"#,
            .unsupported(pointer: "/format", reason: .format("iri"))),
        refused(
            #"{"items":{"multipleOf":0.6001}}"#,
            .unsupported(pointer: "/items/multipleOf", reason: .divisor)),
        refused(
            ##"{"$ref":"#/$defs/a"}"##,
            .badReference(pointer: "/$ref", reference: "#/$defs/a")),
        refused(
            #"{"$ref":"other.json"}"#,
            .unsupported(pointer: "/$ref", reason: .remote("other.json"))),
        refused(
            ##"{"$id":"http://a/b","$ref":"http://a/bc#/x"}"##,
            .unsupported(pointer: "/$ref", reason: .remote("http://a/bc#/x"))),
        refused(
            ##"{"$id":"http://a/b","$ref":"http://a/b#/x"}"##,
            .badReference(pointer: "/$ref", reference: "http://a/b#/x")),
        refused(
            ##"{"$id":"#","$ref":"other.json#/x"}"##,
            .unsupported(pointer: "/$ref", reason: .remote("other.json#/x"))),
        refused(
            ##"{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{}]}},"$ref":"#/$defs/a"}"##,
            .unsupported(pointer: "/$defs/a", reason: .circular)),
        refused(
            #"{"oneOf":[{"type":"integer"},{"type":"number","minimum":3}]}"#,
            .overlap(pointer: "/oneOf", first: 0, second: 1)),
        refused(
            #"{"oneOf":[{"type":"null"},{"properties":{"a":true}},{"required":["b"]}]}"#,
            .overlap(pointer: "/oneOf", first: 0, second: 1)),
        refused(
            #"{"type":"strin"}"#,
            .badKeyword(
                pointer: "/type",
                expected: "null, boolean, object, array, number, integer or string, or a list of "
                    + "these")),
        refused(
            #"{"minLength":-1}"#,
            .badKeyword(pointer: "/minLength", expected: "a whole number from 0 to \(Int.max)")),
        refused(
            #"{"properties":[]}"#,
            .badKeyword(pointer: "/properties", expected: "an object of schemas")),
        refused(
            #"{"items":[{}]}"#,
            .badKeyword(pointer: "/items", expected: "a schema: an object, true or false")),
        refused(
            #"{"type":"object","minProperties":2}"#,
            .unsupported(pointer: "/minProperties", reason: .keyword)),
        refused(
            #"{"oneOf":[{"type":"string","format":"date"},{"type":"string","format":"time"}]}"#,
            .overlap(pointer: "/oneOf", first: 0, second: 1)),
        refused(
            #"{"oneOf":[{"type":"string","format":"email"},{"const":"a@b"}]}"#,
            .overlap(pointer: "/oneOf", first: 0, second: 1)),
        refused(
            #"{"oneOf":[{"type":"string","pattern":"^\\d$"},{"const":"٠"}]}"#,
            .overlap(pointer: "/oneOf", first: 0, second: 1)),
        refused(
            #"{"oneOf":[{"const":0.1},{"const":0.10000000000000000555}]}"#,
            .overlap(pointer: "/oneOf", first: 0, second: 1)),
        refused(
            #"{"type":"string","pattern":".*[a-m].{100}"}"#,
            .tooLarge(
                what: .machine, limit: GrammarLimits.machineStates, pointer: "/pattern")),
        refused(#"{"minItems":3,"maxItems":2}"#, .empty(pointer: "")),
        refused(#"{"enum":[]}"#, .empty(pointer: "")),
        refused("false", .empty(pointer: "")),
        refused(
            ##"{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]}"##,
            .empty(pointer: "")),
        refused(#"{"type":"string","minLength":3,"pattern":"^a?b?$"}"#, .empty(pointer: "")),
        refused(
            #"{"type":"string","minLength":90000000}"#,
            .tooLarge(what: .nodes, limit: GrammarLimits.nodes, pointer: "")),
    ]

    @Test("each is refused with the place of what cannot be enforced", arguments: refusals)
    func refuses(_ refusal: Refusal) throws {
        #expect(throws: refusal.error) {
            try CompiledGrammar(schema: Array(refusal.schema.utf8), Vocabularies.bytes)
        }
    }

    @Test("a keyword that asks for nothing is taken")
    func takesWhatAsksForNothing() throws {
        let schema = #"""
            {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","title":"t",
            "uniqueItems":false,"not":false,"patternProperties":{},"propertyNames":true,
            "minProperties":0,"type":"null","default":3,"examples":[1],"x-unknown":[]}
            """#
        let grammar = try CompiledGrammar(schema: Array(schema.utf8), Vocabularies.bytes)
        var matcher = try GrammarMatcher(grammar, limit: 4)
        var random = TestRandom(state: 1)
        #expect(try matcher.write(with: &random) == "null")
    }

    @Test("JSON that is nested without end is refused before the stack is full")
    func refusesDepth() {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        #expect(throws: GrammarError.tooDeep(limit: GrammarLimits.jsonDepth)) {
            try GrammarJSON.read(deep)
        }
    }

    @Test("unions of unions stop at a limit")
    func refusesProducts() {
        let union = #"{"anyOf":[{"minimum":1},{"minimum":2},{"minimum":3},{"minimum":4}]}"#
        let schema =
            #"{"allOf":["#
            + [String](repeating: union, count: 12).enumerated()
            .map { $1.replacing("1}", with: "1\($0)}") }.joined(separator: ",") + "]}"
        #expect {
            try CompiledGrammar(schema: Array(schema.utf8), Vocabularies.bytes)
        } throws: { error in
            guard case .tooLarge(.alternatives, _, _)? = error as? GrammarError else {
                return false
            }
            return true
        }
    }
}
