import SkeinRows
import Testing

/// The shapes that lists have in files of other writers: Logical Types of apache/parquet-format, "Lists".
@Suite struct ParquetListTests {
    private typealias Image = ParquetImage

    /// Two rows: a list of 1 and 2, and an empty one; for a leaf in one list that can be null.
    private static let numbers = Image.Column(
        type: 1, values: 3,
        pages: Image.page(
            values: 3,
            Image.levels([0, 1, 0]) + Image.levels([2, 2, 1]) + Image.int32s([1, 2])))

    @Test("JSON text, as fastparquet writes lists, is a list in the columns that need one")
    func json() throws {
        let bytes = try TableRows.bytes("json-messages.parquet")
        for (lists, messages) in [
            (["messages"] as Set, #"[{"role":"user","content":"question 1\n"},"#),
            ([], #""[{\"role\":\"user\",\"content\":\"question 1\\n\"},"#),
        ] {
            let text = try TableRows.text(TableRows.parquet(bytes, lists: lists)[1])
            #expect(text.hasPrefix(#"{"messages":"# + messages), "\(text)")
            #expect(text.hasSuffix(#","note":"[\"a\",1]"}"#), "\(text)")
        }
    }

    @Test("an element that is the repeated leaf, or the leaf of a repeated group")
    func leaves() throws {
        for repeated in [
            [Image.leaf("array", type: 1, repetition: 2)],
            [Image.leaf("item", type: 1, repetition: 2)],
            [Image.group("list", 1, repetition: 2), Image.leaf("element", type: 1)],
            [Image.group("bag", 1, repetition: 2), Image.leaf("array_element", type: 1)],
        ] {
            let list = Image.group("n", 1, repetition: 1, converted: 3)
            let image = Image(
                elements: [Image.group("schema", 1), list] + repeated, rows: 2,
                columns: [Self.numbers])
            let rows = try TableRows.parquet(image.bytes).map(TableRows.text)
            #expect(rows == [#"{"n":[1,2]}"#, #"{"n":[]}"#])
        }
    }

    @Test("a repeated group with one field that is an element by its name")
    func tuples() throws {
        for name in ["array", "n_tuple"] {
            let image = Image(
                elements: [
                    Image.group("schema", 1), Image.group("n", 1, repetition: 1, converted: 3),
                    Image.group(name, 1, repetition: 2), Image.leaf("x", type: 1),
                ], rows: 2, columns: [Self.numbers])
            let rows = try TableRows.parquet(image.bytes).map(TableRows.text)
            #expect(rows == [#"{"n":[{"x":1},{"x":2}]}"#, #"{"n":[]}"#])
        }
    }

    @Test("a repeated group of two fields, with and without a list around it")
    func groups() throws {
        let values = [["a", "b"], ["c"]]
        for levels in [[UInt8]([0, 1, 0]), [2, 2, 1]].enumerated() {
            let isList = levels.offset == 1
            let definitions: [UInt8] = isList ? levels.element : [1, 1, 0]
            let column = Image.Column(
                values: 3,
                pages: Image.page(
                    values: 3,
                    Image.levels([0, 1, 0]) + Image.levels(definitions)
                        + Image.texts(values[0])))
            let group = [
                Image.group("m", 2, repetition: 2), Image.leaf("role"), Image.leaf("content"),
            ]
            let list = Image.group("messages", 1, repetition: 1, converted: 3)
            let image = Image(
                elements: [Image.group("schema", 1)] + (isList ? [list] : []) + group, rows: 2,
                columns: [column, column])
            let name = isList ? "messages" : "m"
            let rows = try TableRows.parquet(image.bytes).map(TableRows.text)
            let first = #"[{"role":"a","content":"a"},{"role":"b","content":"b"}]"#
            #expect(rows == ["{\"\(name)\":\(first)}", "{\"\(name)\":[]}"])
        }
    }

    @Test("a leaf that is repeated without a list around it")
    func bareLeaf() throws {
        let pages = Image.page(
            values: 3, Image.levels([0, 1, 0]) + Image.levels([1, 1, 0]) + Image.int32s([1, 2]))
        let image = Image(
            elements: [Image.group("schema", 1), Image.leaf("n", type: 1, repetition: 2)],
            rows: 2, columns: [Image.Column(type: 1, values: 3, pages: pages)])
        let rows = try TableRows.parquet(image.bytes).map(TableRows.text)
        #expect(rows == [#"{"n":[1,2]}"#, #"{"n":[]}"#])
    }

    @Test("a list of lists of the older form")
    func listOfLists() throws {
        let pages = Image.page(
            values: 3,
            Image.levels([0, 2, 1]) + Image.levels([2, 2, 2]) + Image.int32s([1, 2, 3]))
        let image = Image(
            elements: [
                Image.group("schema", 1), Image.group("n", 1, converted: 3),
                Image.group("array", 1, repetition: 2, converted: 3),
                Image.leaf("array", type: 1, repetition: 2),
            ], rows: 1, columns: [Image.Column(type: 1, values: 3, pages: pages)])
        #expect(try TableRows.parquet(image.bytes).map(TableRows.text) == [#"{"n":[[1,2],[3]]}"#])
    }

    @Test("a map is refused by name")
    func map() throws {
        let image = Image(
            elements: [
                Image.group("schema", 1), Image.group("m", 1, converted: 1),
                Image.group("key_value", 2, repetition: 2), Image.leaf("key"),
                Image.leaf("value"),
            ], rows: 0,
            columns: [Image.Column(values: 0, pages: []), Image.Column(values: 0, pages: [])])
        #expect(
            TableRows.problem { _ = try TableRows.parquet(image.bytes) }
                == .unsupported(column: "m", feature: .type("MAP")))
    }
}
