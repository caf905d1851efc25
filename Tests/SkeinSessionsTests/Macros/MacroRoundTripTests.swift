import SkeinSessions
import Testing

@Suite struct MacroRoundTripTests {
    static let cat = MacroTypes.Cat(
        name: "Mia", age: 3, isTame: true, mood: nil, scores: [1, 2], default: ["x"])

    private func returns<Value: Generable & Equatable>(_ value: Value, as json: String) throws {
        let content = value.generatedContent
        #expect(content.jsonString == json)
        #expect(try Value(content) == value)
        #expect(try Value(GeneratedContent(json: json)) == value)
    }

    @Test("a struct keeps its values, in the order of its properties")
    func record() throws {
        let json =
            #"{"name":"Mia","age":3,"weight":4.5,"isTame":true,"scores":[1,2],"default":["x"]}"#
        try returns(Self.cat, as: json)
        try returns(MacroTypes.Nothing(), as: "{}")
    }

    @Test("an enum of texts is its raw value")
    func choice() throws {
        try returns(MacroTypes.Colour.red, as: #""rot""#)
        try returns(MacroTypes.Colour.green, as: #""green""#)
        try returns(MacroTypes.Colour.default, as: #""a \"quoted\" one""#)
        #expect(throws: GeneratedContentError.self) {
            try MacroTypes.Colour(GeneratedContent(json: #""red""#))
        }
    }

    static let drawings: [(MacroTypes.Drawing, String)] = [
        (.nothing, #"{"type":"nothing"}"#),
        (.circle(radius: 0.5, .red), #"{"type":"circle","radius":0.5,"value":"rot"}"#),
        (.circle(radius: 2, nil), #"{"type":"circle","radius":2}"#),
        (.pair(1, 2), #"{"type":"pair","value":1,"value1":2}"#),
        (
            .group(of: [.nothing, .pair(3, 4)], first: .nothing),
            #"{"type":"group","of":[{"type":"nothing"},{"type":"pair","value":3,"value1":4}],"#
                + #""first":{"type":"nothing"}}"#
        ),
    ]

    @Test("an enum with values is an object", arguments: drawings)
    func union(drawing: MacroTypes.Drawing, json: String) throws {
        try returns(drawing, as: json)
    }

    @Test("what is no case is told")
    func noCase() {
        for json in [#"{"type":"square"}"#, "{}", "3", #"{"type":"pair","value":1}"#] {
            #expect(throws: GeneratedContentError.self) {
                try MacroTypes.Drawing(GeneratedContent(json: json))
            }
        }
    }

    @Test("nil is null where the type says so")
    func explicitNil() throws {
        try returns(MacroTypes.Explicit(a: nil, b: 3, c: nil), as: #"{"a":null,"b":3,"c":null}"#)
    }

    @Test("an identity is the content's, and is not written")
    func identity() throws {
        let tree = MacroTypes.Tree(id: GenerationID(), value: 1, children: [], colour: nil)
        let content = tree.generatedContent
        #expect(content.jsonString == #"{"value":1,"children":[]}"#)
        #expect(content.id == tree.id)
        #expect(try MacroTypes.Tree(content) == tree)
        #expect(tree.asPartiallyGenerated().id == tree.id)
        #expect(try MacroTypes.Tree.PartiallyGenerated(content).id == tree.id)
    }

    @Test("an actor's constants are its content")
    func actor() throws {
        let counter = try MacroTypes.Counter(GeneratedContent(json: #"{"count":2}"#))
        #expect(counter.count == 2)
        #expect(counter.note == nil)
        #expect(counter.generatedContent.jsonString == #"{"count":2}"#)
        #expect(counter.asPartiallyGenerated().count == 2)
    }

    @Test("an isolated struct is made from anywhere")
    func isolated() throws {
        let value = try MacroTypes.Isolated(GeneratedContent(json: #"{"name":"a","parts":[]}"#))
        #expect(value.generatedContent.jsonString == #"{"name":"a","parts":[]}"#)
    }
}
