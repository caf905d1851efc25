import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinRowsTestSupport

@Suite struct TextChunkTests {
    private func encoder(length: Int, chunks: Bool = true) throws -> RowEncoder {
        let toy = ToyTokenizer.encoder()
        let text = TextEncoder(
            encode: toy.encode, encodeWhole: { [5] + ToyTokenizer.encode($0) }, decode: toy.decode,
            renderChat: nil, endID: 1, endOfTurnIDs: [1])
        return try RowEncoder(
            encoder: text, format: .eos, trainedTurns: .all, maximumLength: length,
            chunkLength: chunks ? length : nil)
    }

    private func encoded(
        _ text: String, name: String, length: Int, chunks: Bool = true
    ) throws -> (rows: EncodedRows, facts: LineFacts) {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(text, to: directory + "/" + name)
            var fields = RowFields()
            fields.readsParagraphs = chunks
            let file = try PairFile(path: directory + "/" + name, fields: fields)
            let pairs = try encoder(length: length, chunks: chunks).encodeWithRemarks(file)
            #expect(pairs.lines.count == pairs.remarks.count)
            return (pairs.rows, file.facts(pairs))
        }
    }

    @Test("a long text becomes rows that learn each token once; its ends stand at its ends alone")
    func chunks() throws {
        for (count, length) in [(100, 20), (20, 20), (38, 20), (39, 20), (7, 2), (300, 7)] {
            let text = String((0..<count).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
            let rows = try encoded("{\"text\":\"\(text)\"}\n", name: "d.jsonl", length: length).rows
            let ids = [5] + ToyTokenizer.encode(text) + [1]
            var learned: [Int32] = []
            for row in rows.rows {
                #expect(row.ids.count <= length && row.targets == [1..<row.ids.count])
                learned += row.ids.dropFirst()
            }
            #expect([5] + learned == ids, "\(count), \(length)")
            #expect(rows.rows.count == (ids.count - 2) / (length - 1) + 1)
            #expect(rows.rows.map(\.number) == Array(rows.rows.indices))
            #expect(
                rows.rows.count { $0.ids.first == 5 } == 1
                    && rows.rows.count { $0.ids.last == 1 } == 1)
            #expect(rows.cutCount == 0 && rows.skippedCount == 0)
            let lengths = rows.rows.map(\.ids.count)
            #expect((lengths.max() ?? 0) - (lengths.min() ?? 0) <= 1, "about equal")
        }
    }

    @Test("without it, a text loses what is beyond the longest row")
    func without() throws {
        let rows = try encoded(
            "{\"text\":\"abcdefghijklmnopqrstuvwxyz\"}\n", name: "d.jsonl", length: 10,
            chunks: false
        ).rows
        #expect(rows.rows.count == 1 && rows.cutCount == 1)
    }

    @Test("rows that are no texts are cut as before")
    func pairs() throws {
        let line = "{\"prompt\":\"a\",\"completion\":\"bcdefghijklm\"}\n"
        let (with, without) = (
            try encoded(line, name: "d.jsonl", length: 6),
            try encoded(line, name: "d.jsonl", length: 6, chunks: false)
        )
        #expect(with.rows == without.rows && with.rows.cutCount == 1)
    }

    @Test(
        "blank lines separate the texts of a .txt file, whose line ends stay",
        arguments: [
            "One.\ntwo\n\nThree.\n", "\u{FEFF}One.\r\ntwo\r\n \t\r\n\r\nThree.",
            "\n\nOne.\ntwo\n\n\nThree.\n\n",
        ])
    func paragraphs(text: String) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(text, to: directory + "/d.txt")
            var fields = RowFields()
            fields.readsParagraphs = true
            let file = try PairFile(path: directory + "/d.txt", fields: fields)
            #expect(file.rows == [.text("One.\ntwo"), .text("Three.")])
            #expect(file.lines.count == 2)
        }
    }

    @Test("bytes that are no UTF-8 are found in their paragraph")
    func invalid() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(
                Array("ab\n\ncd\n".utf8) + [0xFF] + Array("\n\nef".utf8), to: directory + "/d.txt")
            var fields = RowFields()
            fields.readsParagraphs = true
            let file = try PairFile(
                path: directory + "/d.txt", fields: fields, skippingBadLines: true)
            #expect(file.rows == [.text("ab"), .text("ef")])
            #expect(file.badLineCount == 1 && file.firstBadLine?.number == 3)
        }
    }

    @Test("wrapped prose that is read line by line is remarked on; lists of texts are not")
    func wrapped() throws {
        func count(_ text: String, chunks: Bool = false) throws -> Int {
            try encoded(text, name: "d.txt", length: 100, chunks: chunks).facts
                .remarks[.wrappedLine]
        }
        let prose = "It was late and\nthe lamp burned\nlow. He\nwent out.\n"
        #expect(try count(prose) == 3)
        #expect(try count(prose, chunks: true) == 0)
        #expect(try count("A title\n\nFirst line,\nSecond line.\n\nAn end.\n") == 1)
        #expect(try count("First text.\nSecond text.\nThird text.\n") == 0)
        #expect(try count("First text.\n\nSecond text.\n\nThird text.\n") == 0)
        #expect(try count("d'abord\n\u{E9}tait\n") == 1)
        let lines = LineFacts(rowCount: 100)
        #expect(!DataWarning.matters(.wrappedLine, lines, .eos))
    }
}
