import Testing

@testable import SkeinRows

/// Rows and pages that are larger than the limits.
@Suite struct ParquetLimitsTests {
    private typealias Image = ParquetImage

    private static func problem(_ row: RowResult?) -> BadRow? {
        guard case .failure(let bad) = row else { return nil }
        return bad
    }

    /// A list whose elements, 200 in the first row and one in the second, are one text of 100 kB.
    @Test("a row that a dictionary makes too long, and the row after it")
    func dictionary() throws {
        let text = String(repeating: "x", count: 100_000)
        let count = 201
        let repetitions = [0] + [UInt8](repeating: 1, count: 199) + [0]
        let body =
            Image.levels(repetitions) + Image.levels([UInt8](repeating: 1, count: count))
            + [1] + ThriftValue.varint(UInt64(count << 1)) + [0]
        let pages =
            Image.dictionary(values: 1, Image.texts([text]))
            + Image.page(values: count, body, data: [2: .int32(8)])
        let image = Image(
            elements: [Image.group("schema", 1), Image.leaf("t", repetition: 2)], rows: 2,
            columns: [Image.Column(values: count, pages: pages)])
        let rows = try TableRows.parquet(image.bytes)
        #expect(rows.count == 2)
        let bad = try #require(Self.problem(rows.first))
        #expect(bad == .tooLong(1) && bad.problem == "the row is longer than 16 MiB")
        #expect(try TableRows.text(rows[1]) == "{\"t\":[\"\(text)\"]}")
    }

    @Test("a list of millions of nulls, which take no bytes of the file, is too long a row")
    func nulls() throws {
        let count = 4_000_000
        func run(_ value: UInt8, _ count: Int) -> [UInt8] {
            ThriftValue.varint(UInt64(count << 1)) + [value]
        }
        let repetitions = run(0, 1) + run(1, count - 2) + run(0, 1)
        let definitions = run(1, count - 1) + run(0, 1)
        let body =
            Image.length(repetitions.count) + repetitions + Image.length(definitions.count)
            + definitions
        let image = Image(
            elements: [
                Image.group("schema", 1), Image.group("t", 1, converted: 3),
                Image.group("list", 1, repetition: 2), Image.leaf("element", repetition: 1),
            ], rows: 2,
            columns: [Image.Column(values: count, pages: Image.page(values: count, body))])
        let rows = try TableRows.parquet(image.bytes)
        #expect(Self.problem(rows.first) == .tooLong(1))
        #expect(try TableRows.text(rows[1]) == #"{"t":[]}"#)
    }

    @Test("one text that is longer than a row, and one that its escapes make so")
    func text() throws {
        for text in [
            String(repeating: "x", count: (16 << 20) + 1),
            String(repeating: "\u{1}", count: 3 << 20),
        ] {
            let image = Image(
                elements: [Image.group("schema", 1), Image.leaf("t")], rows: 2,
                columns: [
                    Image.Column(
                        values: 2, pages: Image.page(values: 2, Image.texts([text, "b"])))
                ])
            let rows = try TableRows.parquet(image.bytes)
            #expect(Self.problem(rows.first) == .tooLong(1))
            #expect(try TableRows.text(rows[1]) == #"{"t":"b"}"#)
        }
    }

    @Test("pages of all columns share one budget, and give back what they took")
    func budget() throws {
        let budget = PageBudget()
        do {
            let buffer = PageBuffer(budget)
            _ = try buffer.prepare(1 << 20)
            _ = try buffer.prepare(3 << 20)
            _ = try buffer.prepare(2 << 20)
            #expect(buffer.bytes.count == 2 << 20)
            #expect(
                throws: TableProblem.tooLarge(
                    part: "decompressed pages of all columns", limit: 1 << 30,
                    found: (1 << 30) + 1)
            ) { try budget.replace(0, with: (1 << 30) - (3 << 20) + 1) }
        }
        try budget.replace(0, with: 1 << 30)
        #expect(budget.peak == 1 << 30)
    }

    @Test("a column of more values than can be read in a minute")
    func chunk() {
        let image = Image(
            elements: [Image.group("schema", 1), Image.leaf("t", repetition: 2)], rows: 1,
            columns: [Image.Column(values: (1 << 31) + 1, pages: [])])
        #expect(
            TableRows.problem { _ = try TableRows.parquet(image.bytes) }
                == .tooLarge(part: "values of a column", limit: 1 << 31, found: (1 << 31) + 1))
    }
}
