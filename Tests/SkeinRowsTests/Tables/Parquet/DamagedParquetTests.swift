import SkeinRows
import Testing

/// Files that contradict themselves: each with the sentence that says how.
@Suite struct DamagedParquetTests {
    private typealias Image = ParquetImage

    /// One column of optional texts, two rows.
    private static func image(_ change: (inout Image.Column) -> Void = { _ in }) -> Image {
        var column = Image.Column(values: 2, pages: page())
        change(&column)
        return Image(
            elements: [Image.group("schema", 1), Image.leaf("text", repetition: 1)], rows: 2,
            columns: [column])
    }

    private static let body = Image.levels([1, 1]) + Image.texts(["a", "b"])

    private static func page(
        values: Int = 2, header: Image.Fields = [:], data: Image.Fields = [:]
    ) -> [UInt8] {
        Image.page(values: values, body, header: header, data: data)
    }

    private static func what(_ bytes: [UInt8]) -> String? {
        TableRows.problem { _ = try TableRows.parquet(bytes) }?.what
    }

    @Test("the undamaged file is read")
    func whole() throws {
        let rows = try TableRows.parquet(Self.image().bytes).map(TableRows.text)
        #expect(rows == [#"{"text":"a"}"#, #"{"text":"b"}"#])
    }

    private static let wrongPages: [(String, [UInt8], Int)] = [
        ("claims 1000 bytes of 18", page(header: [3: .int32(1000)]), 0),
        ("has 18 bytes and claims 23", page(header: [2: .int32(23)]), 0),
        ("claims more bytes than SNAPPY can make of it", page(header: [2: .int32(500)]), 1),
        ("does not decompress to 18 bytes", page(), 1),
        ("claims more bytes than ZSTD can make of it", page(), 6),
        (
            "does not decompress to 9 bytes",
            Image.page(
                values: 2, [0x28, 0xB5, 0x2F, 0xFD, 0x20, 9, 13, 0, 0, 0xFF], header: [2: .int32(9)]
            ), 6
        ),
        ("does not have the checksum of its header", page(header: [4: .int32(7)]), 0),
        ("has more values than its row group", page(values: 3), 0),
        ("has a negative size", page(values: -1), 0),
        ("is the last, too early", page(values: 1), 0),
        ("has no header", page(header: [1: .int32(3)]), 0),
        (
            "is a second dictionary",
            Image.dictionary(values: 0, []) + Image.dictionary(values: 0, []), 0
        ),
        ("is shorter than its values", Image.dictionary(values: 1, [1, 0, 0, 0]), 0),
        ("has a wrong definition level", Image.page(values: 2, Image.levels([2, 1])), 0),
        (
            "has a wrong definition level",
            Image.page(values: 2, Image.levels([1]) + Image.texts(["a"])), 0
        ),
        ("is shorter than its levels", Image.page(values: 2, [9, 0, 0, 0, 1]), 0),
        ("has no length of its levels", Image.page(values: 2, [9]), 0),
        (
            "has too few values", Image.page(values: 2, Image.levels([1, 1]) + Image.texts(["a"])),
            0
        ),
        (
            "has a value that is not in the dictionary",
            Image.dictionary(values: 1, Image.texts(["a"]))
                + Image.page(
                    values: 2, Image.levels([1, 1]) + [1, 4, 1], data: [2: .int32(8)]), 0
        ),
        (
            "has a value that is not in the dictionary",
            Image.page(values: 2, Image.levels([1, 1]) + [1, 4, 0], data: [2: .int32(8)]), 0
        ),
        (
            "has indices of 33 bits",
            Image.page(values: 2, Image.levels([1, 1]) + [33, 4, 0], data: [2: .int32(8)]), 0
        ),
    ]

    @Test("a page that lies", arguments: wrongPages)
    func pages(problem: String, pages: [UInt8], codec: Int) throws {
        let what = Self.what(
            Self.image {
                $0.pages = pages
                $0.codec = codec
            }.bytes)
        let found = try #require(what)
        #expect(found.hasPrefix("the Parquet file is damaged: a page of column \"text\" at byte "))
        #expect(found.hasSuffix(" " + problem), "\(found)")
    }

    @Test("a page that asks for more than the limits")
    func limits() {
        let large = Self.image { $0.pages = Self.page(header: [2: .int32((256 << 20) + 1)]) }
        #expect(
            Self.what(large.bytes)
                == "a page of column \"text\" of the Parquet file: 268,435,457, and at most "
                + "268,435,456 can be read")
        let many = Self.image { $0.pages = Self.page(values: (64 << 20) + 1) }
        #expect(
            Self.what(many.bytes)
                == "values of a page of column \"text\" of the Parquet file: 67,108,865, and at most "
                + "67,108,864 can be read")
    }

    @Test("levels and values of encodings that are not read")
    func encodings() {
        let levels = Self.image { $0.pages = Self.page(data: [3: .int32(4)]) }
        #expect(Self.what(levels.bytes) == "column \"text\" is encoded with BIT_PACKED")
        let values = Self.image { $0.pages = Self.page(data: [2: .int32(9)]) }
        #expect(Self.what(values.bytes) == "column \"text\" is encoded with BYTE_STREAM_SPLIT")
        let runs = Self.image { $0.pages = Self.page(data: [2: .int32(3)]) }
        #expect(Self.what(runs.bytes) == "column \"text\" is encoded with RLE")
    }

    private static let wrongFooters: [(String, @Sendable (inout Image) -> Void)] = [
        ("claims 3 rows, and its row groups have 2", { $0.footer = [3: .int64(3)] }),
        ("has a column of 3 values", { $0.columns[0].values = 3 }),
        ("has pages outside the file", { $0.columns[0].metadata = [7: .int64(1 << 40)] }),
        ("has pages outside the file", { $0.columns[0].metadata = [9: .int64(1 << 62)] }),
        ("has pages outside the file", { $0.columns[0].metadata = [9: .int64(0)] }),
        ("has a column of another type than the schema", { $0.columns[0].type = 1 }),
        ("has a row group of 0 columns", { $0.columns = [] }),
        ("has a schema without columns", { $0.elements = [Image.group("schema", 0)] }),
        ("has a schema without columns", { $0.elements = [Image.leaf("schema")] }),
        ("has a schema with too few elements", { $0.elements[0] = Image.group("schema", 2) }),
        ("has a schema with too many elements", { $0.elements.append(Image.leaf("b")) }),
        ("has no physical type 9", { $0.elements[1] = Image.leaf("text", type: 9) }),
        ("has no repetition 3", { $0.elements[1] = Image.leaf("text", repetition: 3) }),
        ("has a group of 0 fields", { $0.elements[1] = Image.group("text", 0) }),
        (
            "has a list that is not repeated",
            {
                $0.elements[1] = Image.group("text", 1, converted: 3)
                $0.elements.append(Image.leaf("b"))
            }
        ),
        ("has another type of field 3", { $0.footer = [3: .text("")] }),
        ("has no schema", { $0.footer = [2: .structure([:]), 4: .structures([])] }),
    ]

    @Test("a footer that lies", arguments: wrongFooters.indices)
    func footers(index: Int) throws {
        let (problem, change) = Self.wrongFooters[index]
        var image = Self.image()
        change(&image)
        let found = try #require(Self.what(image.bytes))
        #expect(found.hasPrefix("the Parquet file is damaged: the footer at byte "))
        // A list of structs that is a struct is no schema, either.
        #expect(
            found.hasSuffix(" " + problem)
                || problem == "has no schema" && found.hasSuffix("has another type of field 2"),
            "\(found)")
    }

    @Test("names of columns that are missing or not unique, and too many of them")
    func names() {
        var image = Self.image()
        image.elements[1] = Image.leaf("", repetition: 1)
        #expect(Self.what(image.bytes) == "column 1 has no name")
        let twice = Image(
            elements: [Image.group("schema", 2), Image.leaf("a"), Image.leaf("a")], rows: 0,
            columns: [])
        #expect(Self.what(twice.bytes) == "columns 1 and 2 have the same name, \"a\"")
        image.elements[0] = Image.group("schema", 1025)
        #expect(Self.what(image.bytes) == "the file has more than 1024 columns")
    }

    @Test("a schema and metadata of too many levels")
    func depth() {
        let groups = (0..<40).map { Image.group("g\($0)", 1) }
        let image = Image(
            elements: [Image.group("schema", 1)] + groups + [Image.leaf("a")], rows: 0,
            columns: [])
        #expect(
            Self.what(image.bytes)
                == "levels of the schema of the Parquet file: 33, and at most 32 can be read")
        let deep = (0..<1000).reduce(ThriftValue.flag(true)) { inner, _ in .structure([1: inner]) }
        var other = Self.image()
        other.footer = [6: deep]
        #expect(Self.what(other.bytes)?.hasSuffix("has too many levels") == true)
    }

    @Test("leaves of one struct that contradict each other")
    func disagreement() {
        let nulls = [
            Image.group("schema", 1), Image.group("s", 2, repetition: 1), Image.leaf("a"),
            Image.leaf("b"),
        ]
        func column(_ level: UInt8) -> [UInt8] {
            Image.page(values: 2, Image.levels([level, level]) + Image.texts(["x", "x"]))
        }
        var file = Image(
            elements: nulls, rows: 2,
            columns: [column(1), column(0)].map { Image.Column(values: 2, pages: $0) })
        #expect(
            Self.what(file.bytes)?.hasSuffix("has other nulls than the fields beside it") == true)
        file.elements[1] = Image.group("s", 2, repetition: 2)
        file.rows = 1
        file.columns = [[0, 1], [0, 0]].map { (levels: [UInt8]) in
            Image.Column(
                values: 2,
                pages: Image.page(
                    values: 2,
                    Image.levels(levels) + Image.levels([1, 1]) + Image.texts(["x", "x"])))
        }
        #expect(
            Self.what(file.bytes)?.hasSuffix("has other lists than the fields beside it") == true)
    }

    @Test("a file that is cut, or none")
    func cut() {
        let bytes = Self.image().bytes
        #expect(Self.what([]) == TableProblem.notParquet.what)
        #expect(Self.what(Array(bytes.dropLast())) == TableProblem.notParquet.what)
        #expect(Self.what(Array("PAR1PAR1".utf8)) == TableProblem.notParquet.what)
        #expect(Self.what(Array("PAR1\u{9}\0\0\0PAR1".utf8))?.hasSuffix("claims 9 bytes") == true)
        #expect(Self.what(Array("PAR1\0\0\0\0PARE".utf8)) == TableProblem.encrypted.what)
    }
}
