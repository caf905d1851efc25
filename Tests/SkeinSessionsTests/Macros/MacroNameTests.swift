import Foundation
import SkeinSessions
import Testing

@Suite struct MacroNameTests {
    private func returns<Value: Generable & Equatable>(_ value: Value, as json: String) throws {
        let content = value.generatedContent
        #expect(content.jsonString == json)
        #expect(try Value(content) == value)
        #expect(try Value(GeneratedContent(json: json)) == value)
        let schema = try JSONEncoder().encode(Value.generationSchema)
        #expect(!schema.isEmpty)
    }

    @Test("properties may be called as the names in an expansion")
    func properties() throws {
        let locals = NamedTypes.Locals(
            content: "c", id: 1, writer: nil, whole: [2], value: 0.5, self: true, init: "i",
            default: 3, generationSchema: 4)
        try returns(
            locals,
            as: #"{"content":"c","id":1,"whole":[2],"value":0.5,"self":true,"init":"i","#
                + #""default":3,"generationSchema":4}"#)
        let partial = locals.asPartiallyGenerated()
        #expect(partial.id == 1)
        #expect(partial.content == "c")
        #expect(partial.`self` == true)
        #expect(partial.`init` == "i")
    }

    @Test("cases may be called as modules and keywords")
    func cases() throws {
        let names = ["Swift", "Kotlin", "Type", "self", "init", "type", "content", "writer"]
        for (language, name) in zip(NamedTypes.Language.allCases, names) {
            try returns(language, as: "\"\(name)\"")
        }
        #expect(throws: GeneratedContentError.self) {
            try NamedTypes.Language(GeneratedContent(json: "3"))
        }
    }

    static let steps: [(NamedTypes.Step, String)] = [
        (.Swift, #"{"type":"Swift"}"#),
        (.`Type`(3), #"{"type":"Type","value":3}"#),
        (.`self`(content: "c"), #"{"type":"self","content":"c"}"#),
        (.`init`(writer: nil, .Swift), #"{"type":"init","value":"Swift"}"#),
        (.type(self: false), #"{"type":"type","self":false}"#),
    ]

    @Test("cases with values may be called so, too", arguments: steps)
    func union(step: NamedTypes.Step, json: String) throws {
        try returns(step, as: json)
    }

    @Test("a type inside may be called as one of Swift's")
    func hiding() throws {
        let value = NamedTypes.Hiding(text: .init(length: 1), texts: [.init(length: 2)])
        try returns(value, as: #"{"text":{"length":1},"texts":[{"length":2}]}"#)
        #expect(value.asPartiallyGenerated().texts?.first?.length == 2)
    }

    @Test("a value that ends in a member called like a keyword ends there")
    func keywords() throws {
        try returns(NamedTypes.Road(last: 2), as: #"{"side":"in","other":"else","last":2}"#)
    }

    @Test("a pattern may be a value, of an optional property, too")
    func patterns() throws {
        let words = NamedTypes.Words(first: "a", second: nil)
        let content = words.generatedContent
        #expect(content.jsonString == #"{"first":"a"}"#)
        #expect(try NamedTypes.Words(content) == words)
    }

    @Test("types are generable at each level of access")
    func access() throws {
        try returns(NamedTypes.Open(name: "a", part: 1), as: #"{"name":"a","part":1}"#)
        try returns(NamedTypes.Packed(name: "b", part: 2), as: #"{"name":"b","part":2}"#)
        try returns(NamedTypes.Level.high, as: #""high""#)
        #expect(try NamedTypes.innerText(of: #"{"name":"c"}"#) == #"{"name":"c"}"#)
        let partial = NamedTypes.Open(name: "a", part: 1).asPartiallyGenerated()
        let _: any Sendable = partial
        #expect(partial.name == "a")
    }
}
