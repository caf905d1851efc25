import SkeinSessions
import Testing

@Suite struct MacroPartialTests {
    @Test("what is missing is nil, and what is unfinished is there")
    func unfinished() throws {
        let content = try GeneratedContent(json: #"{"name":"Mi"}"#)
        let cat = try MacroTypes.Cat.PartiallyGenerated(content)
        #expect(cat.name == "Mi")
        #expect(cat.age == nil)
        #expect(cat.scores == nil)
        #expect(throws: GeneratedContentError.self) { try MacroTypes.Cat(content) }
    }

    @Test("a whole value is a partial one")
    func whole() throws {
        let cat = MacroRoundTripTests.cat
        let partial = cat.asPartiallyGenerated()
        #expect(partial.name == cat.name)
        #expect(partial.age == cat.age)
        #expect(partial.weight == cat.weight)
        #expect(partial.isTame == true)
        #expect(partial.mood == nil)
        #expect(partial.scores == [1, 2])
        #expect(partial.default == ["x"])
    }

    @Test("parts of a partial value are partial")
    func nested() throws {
        let json = #"{"value":1,"children":[{"value":2},{}]}"#
        let tree = try MacroTypes.Tree.PartiallyGenerated(GeneratedContent(json: json))
        #expect(tree.children?.map(\.value) == [2, nil])
        #expect(tree.children?.first?.children == nil)
        #expect(tree.colour == nil)
    }

    @Test("each partial value has an identity, unless it has an id of another type")
    func identity() throws {
        let content = try GeneratedContent(json: #"{"id":3}"#)
        #expect(try MacroTypes.OwnID.PartiallyGenerated(content).id == 3)
        let nothing = MacroTypes.Nothing().asPartiallyGenerated()
        let other = MacroTypes.Nothing().asPartiallyGenerated()
        #expect(nothing.id != other.id)
    }

    @Test("an enum's partial value is the enum")
    func enums() {
        let colour: MacroTypes.Colour.PartiallyGenerated = .red
        #expect(colour.asPartiallyGenerated() == .red)
        let drawing: MacroTypes.Drawing.PartiallyGenerated = .pair(1, 2)
        #expect(drawing.asPartiallyGenerated() == .pair(1, 2))
    }
}
