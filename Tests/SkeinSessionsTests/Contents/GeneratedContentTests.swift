import Foundation
import Testing

@testable import SkeinSessions

@Suite("Contents")
struct GeneratedContentTests {
    @Test("properties keep their order, and nil is left out")
    func properties() {
        let none: Int? = nil
        let content = GeneratedContent(properties: [
            "z": 1, "a": "x", "none": none, "some": Optional(2.5), "list": [true, false],
            "null": GeneratedContent(kind: .null),
        ])
        #expect(
            content.jsonString == #"{"z":1,"a":"x","some":2.5,"list":[true,false],"null":null}"#)
        #expect(content.isComplete && content.id == nil)
        let id = GenerationID()
        #expect(GeneratedContent(properties: [:], id: id).id == id)
        #expect(GeneratedContent(properties: [:]).jsonString == "{}")
    }

    @Test("two properties of one name are joined as asked, and else the last one counts")
    func joined() throws {
        let pairs: [(String, any ConvertibleToGeneratedContent)] = [("a", 1), ("b", 2), ("a", 3)]
        let joined = try GeneratedContent(properties: pairs) { old, new in
            try old.value(Int.self) * 10 + new.value(Int.self)
        }
        #expect(joined.jsonString == #"{"a":13,"b":2}"#)
        let last = GeneratedContent(properties: ["a": 1, "b": 2, "a": 3])
        #expect(last.jsonString == #"{"a":3,"b":2}"#)
    }

    @Test("elements may be of one type or of several")
    func elements() {
        let several: [any ConvertibleToGeneratedContent] = [1, "a", [true], Int?.none]
        #expect(GeneratedContent(elements: several).jsonString == #"[1,"a",[true],null]"#)
        #expect(GeneratedContent(elements: ["a", "b"]).jsonString == #"["a","b"]"#)
        #expect(GeneratedContent(["a"]).jsonString == #"["a"]"#)
    }

    @Test("a kind gives a content and comes back from it")
    func kinds() {
        let parts = ["b": GeneratedContent(1), "a": GeneratedContent("x")]
        let kinds: [(GeneratedContent.Kind, String)] = [
            (.null, "null"), (.bool(true), "true"), (.number(2), "2"), (.number(-0.5), "-0.5"),
            (.string("é\n\"\u{1}"), #""é\n\"\u0001""#), (.array([GeneratedContent(1)]), "[1]"),
            (.structure(properties: parts, orderedKeys: ["b", "a"]), #"{"b":1,"a":"x"}"#),
        ]
        for (kind, text) in kinds {
            let content = GeneratedContent(kind: kind)
            #expect(content.jsonString == text)
            #expect(content.kind == kind)
        }
        #expect(GeneratedContent(kind: .number(.nan)).kind == .null)
        // Names and properties that do not fit each other.
        let odd = GeneratedContent(
            kind: .structure(properties: parts, orderedKeys: ["none", "b", "b"]))
        #expect(odd.jsonString == #"{"b":1,"a":"x"}"#)
    }

    @Test("equality is about what is said, not about ids, order or the spelling of numbers")
    func equality() throws {
        func content(_ text: String) throws -> GeneratedContent { try GeneratedContent(json: text) }
        #expect(try content(#"{"a":1,"b":[2]}"#) == content(#"{"b":[2.0],"a":10e-1}"#))
        #expect(GeneratedContent(kind: .null, id: GenerationID()) == GeneratedContent(kind: .null))
        #expect(try content("9223372036854775807") != content("9223372036854775806"))
        #expect(try content("0.1") != content("0.10000000000000001"))
        #expect(try content("-0") == content("0"))
        #expect(try content(#""ab""#) != content(#""ab"#))
        #expect(try content("[1]") != content("[1,1]"))
        #expect(try content("{}") != content("[]"))
        #expect(try content(#"{"a":1}"#) != content(#"{"b":1}"#))
    }

    @Test("a property is a value, nil where it is missing or null, or an error that tells where")
    func values() throws {
        let content = try GeneratedContent(
            json: #"{"a":1,"b":null,"c":{"d":[{"e":"x"},{"e":2}]},"a b":true}"#)
        #expect(try content.value(Int.self, forProperty: "a") == 1)
        #expect(try content.value(Int?.self, forProperty: "a") == 1)
        #expect(try content.value(Int?.self, forProperty: "b") == nil)
        #expect(try content.value(Int?.self, forProperty: "none") == nil)
        let inferred: Int? = try content.value(forProperty: "b")
        #expect(inferred == nil)
        let part: GeneratedContent = try content.value(forProperty: "c")
        #expect(part.jsonString == #"{"d":[{"e":"x"},{"e":2}]}"#)

        func error(_ body: () throws -> Void) -> GeneratedContentError? {
            #expect(throws: GeneratedContentError.self, performing: body)
        }
        let missing = error { _ = try content.value(Int.self, forProperty: "none") }
        #expect(missing == .missingProperty(path: "none"))
        let null = error { _ = try content.value(Int.self, forProperty: "b") }
        #expect(null == .wrongKind(path: "b", expected: "a number", found: "null"))
        let spaced = error { _ = try content.value(Int.self, forProperty: "a b") }
        #expect(spaced == .wrongKind(path: #"["a b"]"#, expected: "a number", found: "a boolean"))
        let deep = error { _ = try content.value(Outer.self, forProperty: "c") }
        #expect(deep == .wrongKind(path: "c.d[1].e", expected: "a string", found: "a number"))
        let noObject = error { _ = try GeneratedContent(1).value(Int.self, forProperty: "a") }
        #expect(noObject == .wrongKind(path: "", expected: "an object", found: "a number"))
    }

    private struct Outer: ConvertibleFromGeneratedContent {
        var inner: [Inner]

        init(_ content: GeneratedContent) throws { inner = try content.value(forProperty: "d") }
    }

    private struct Inner: ConvertibleFromGeneratedContent {
        var text: String

        init(_ content: GeneratedContent) throws { text = try content.value(forProperty: "e") }
    }

    @Test("every value becomes its content and comes back")
    func conversions() throws {
        func check<Value: Generable & Equatable>(_ value: Value, _ text: String) throws {
            #expect(value.generatedContent.jsonString == text)
            #expect(try Value(GeneratedContent(json: text)) == value)
            #expect(try GeneratedContent(value).value(Value.self) == value)
        }
        try check("", #""""#)
        try check("a\"\\\n😀\u{0}", #""a\"\\\n😀\u0000""#)
        try check(true, "true")
        try check(false, "false")
        try check(0, "0")
        try check(Int.max, "9223372036854775807")
        try check(Int.min, "-9223372036854775808")
        try check(1.5 as Float, "1.5")
        try check(Float.greatestFiniteMagnitude, "3.4028235e+38")
        try check(Float.leastNonzeroMagnitude, "1e-45")
        try check(0.1, "0.1")
        try check(3.0, "3")
        try check(Double.greatestFiniteMagnitude, "1.7976931348623157e+308")
        try check(Double.leastNonzeroMagnitude, "5e-324")
        try check(Decimal(1) / Decimal(8), "0.125")
        try check([[1, 2], []], "[[1,2],[]]")
        try check(Review(rating: 4, summary: "Good"), #"{"rating":4,"summary":"Good"}"#)
        try check(Mood.goodEnough, #""goodEnough""#)
        try check(Shape.circle(radius: 2.5), #"{"type":"circle","radius":2.5}"#)
        try check(Shape.label("a", size: nil), #"{"type":"label","value":"a"}"#)
        try check(Shape.nothing, #"{"type":"nothing"}"#)
        try check(GeneratedContent(elements: [1]), "[1]")
    }

    @Test("what is not finite becomes null")
    func notFinite() {
        #expect(Double.nan.generatedContent.jsonString == "null")
        #expect((-Float.infinity).generatedContent.jsonString == "null")
        #expect(Decimal.nan.generatedContent.jsonString == "null")
    }

    @Test("a name that no case has is an error")
    func unknownCases() throws {
        #expect(
            throws: GeneratedContentError.unknownCase(path: "", type: "Mood", found: "great"),
            performing: { try Mood(GeneratedContent("great")) })
        #expect(
            throws: GeneratedContentError.unknownCase(path: "", type: "Shape", found: "square"),
            performing: { try Shape(GeneratedContent(properties: ["type": "square"])) })
        #expect(try Shape(GeneratedContent("nothing")) == .nothing)
        #expect(
            throws: GeneratedContentError.missingProperty(path: "type"),
            performing: { try Shape(GeneratedContent(properties: [:])) })
    }

    @Test("what is made of unfinished parts is not complete")
    func unfinishedParts() throws {
        let part = try GeneratedContent(json: "\"ab")
        #expect(!GeneratedContent(properties: ["a": part]).isComplete)
        #expect(!GeneratedContent(elements: [part]).isComplete)
        #expect(!GeneratedContent(kind: .array([part])).isComplete)
        #expect(GeneratedContent(properties: ["a": "ab"]).isComplete)
    }

    @Test("a writer leaves out nil, and keeps the order")
    func writer() {
        var writer = PropertyWriter()
        writer.write("b", 1)
        writer.write("a", Int?.none)
        writer.write("c", Optional("x"))
        writer.write("b", 2)
        #expect(writer.content.jsonString == #"{"b":2,"c":"x"}"#)
    }

    @Test("an id's children are always the same, and different from each other")
    func ids() {
        let id = GenerationID()
        #expect(id.child("a") == id.child("a"))
        var all: Set<GenerationID> = [id]
        for other in [id, GenerationID()] {
            for index in 0..<1000 {
                all.insert(other.child(index))
                all.insert(other.child("\(index)"))
                all.insert(other.child(index).child("x"))
            }
        }
        #expect(all.count == 6001)
    }
}
