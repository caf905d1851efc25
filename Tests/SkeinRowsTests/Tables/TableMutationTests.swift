import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinRows

/// Damaged files: rows, bad rows or a `TableProblem`, and never stops the process.
///
/// SKEIN_TEST_MUTATIONS sets how many, SKEIN_TEST_SEED draws others.
@Suite struct TableMutationTests {
    /// What became of the inputs.
    private struct Outcome {
        var (rows, badRows, problems) = (0, 0, 0)

        mutating func count(_ rows: () throws -> [RowResult]) throws {
            do {
                for row in try rows() {
                    switch row {
                    case .success(let row):
                        self.rows += 1
                        // Whatever was damaged, the JSON is JSON; checked now and then, for it is slow.
                        if self.rows % 64 == 0 { try requireObject(row) }
                    case .failure(let bad):
                        badRows += 1
                        #expect(!bad.problem.isEmpty && !bad.remedy.isEmpty && bad.number > 0)
                    }
                }
            } catch let problem as TableProblem {
                problems += 1
                #expect(!problem.what.isEmpty && !problem.remedy.isEmpty)
            }
        }

        private func requireObject(_ row: TableRow) throws {
            let end = try row.json.withUnsafeBufferPointer { try RowJSON.end($0, from: 0) }
            #expect(end == row.json.count && row.json.first == UInt8(ascii: "{"))
            #expect(row.json.withUnsafeBytes(UTF8Check.isValid))
        }
    }

    private static let delimited = [
        "prompt,completion\r\np1,c1\r\n\"p\n2\",\"c \"\"2\"\"\"\r\n\r\np3,é🦙\r\n",
        "\u{FEFF}messages\tsystem\ttools\n\"[{\"\"role\"\": \"\"user\"\", \"\"content\"\": \"\"a\\n\"\"}]\"\ts\t[]\n\t\t\n",
        "text\n\"\"\n\"a\"\nb\n",
    ].map { Array($0.utf8) }

    private static let words = [
        "\"", "\"\"", ",", "\t", "\n", "\r\n", "\r", "[", "]", "{", "}", ":", "\\", "\\u", "\u{0}",
        "messages", "null", "1e9", "[[[[[[", "\u{FEFF}",
    ].map { Array($0.utf8) }

    /// Cuts, doubles, inserts and changes bytes of a text.
    private static func damage(_ text: [UInt8], _ damage: inout Damage) -> [UInt8] {
        var text = text
        for _ in 0..<(1 + damage.below(3)) {
            let start = damage.below(text.count + 1)
            let length = min(damage.below(12), text.count - start)
            switch damage.below(5) {
            case 0: text.removeSubrange(start..<(start + length))
            case 1: text.insert(contentsOf: text[start..<(start + length)], at: start)
            case 2: text.insert(UInt8(damage.below(256)), at: start)
            case 3: damage.change(&text, within: 0..<text.count)
            default:
                let word = words[damage.below(words.count)]
                text.replaceSubrange(start..<(start + length), with: word)
            }
        }
        return text
    }

    @Test("a damaged CSV or TSV file")
    func delimited() throws {
        var outcome = Outcome()
        let count = Damage.count(20000)
        for number in 0..<count {
            var damage = Damage(number: number)
            let index = damage.below(Self.delimited.count)
            let text = Self.damage(Self.delimited[index], &damage)
            let separator: Character = damage.below(8) == 0 ? "," : index == 1 ? "\t" : ","
            try outcome.count { try TableRows.delimited(text, separator: separator) }
        }
        #expect(outcome.rows > count / 4 && outcome.badRows > count / 20, "\(outcome)")
        #expect(outcome.problems > count / 20, "\(outcome)")
    }

    private static let lists = [
        #"[{"prompt": "p\u00e9 🦙", "completion": "c"}, {"n": [1, -2.5e+3, true, null, {}]}, {}]"#,
        "\u{FEFF}[\n  {\n    \"messages\": [{\"role\": \"user\", \"content\": \"a\\n\"}]\n  }\n]\n",
    ].map { Array($0.utf8) }

    @Test("a damaged JSON list")
    func lists() throws {
        var outcome = Outcome()
        let count = Damage.count(20000)
        for number in 0..<count {
            var damage = Damage(number: number)
            let text = Self.damage(Self.lists[damage.below(Self.lists.count)], &damage)
            try outcome.count { try TableRows.list(text) }
        }
        #expect(outcome.rows > count / 4 && outcome.badRows > count / 20, "\(outcome)")
        #expect(outcome.problems > count / 20, "\(outcome)")
    }

    /// Damages the footer, the pages or the whole of a file; rarely its lengths and marks.
    private static func damageParquet(_ file: [UInt8], _ damage: inout Damage) -> [UInt8] {
        var file = file
        let length = (0..<4).reduce(0) { $0 | Int(file[file.count - 8 + $1]) << (8 * $1) }
        let footer = file.count - 8 - length
        let before = file.count
        switch damage.below(6) {
        case 0: damage.change(&file, within: footer..<(before - 8))
        case 1:
            // Where the schema is: the front.
            damage.change(&file, within: footer..<(footer + min(300, length)))
        case 2: damage.change(&file, within: 0..<before)
        case 3:
            // Bits alone, so that the footer's offsets stay right.
            for _ in 0..<(1 + damage.below(8)) {
                file[4 + damage.below(footer - 4)] ^= 1 << UInt8(damage.below(8))
            }
        default: damage.change(&file, within: 4..<footer)
        }
        // The footer's length follows, so that the footer is read.
        if damage.below(8) > 0, file.count != before, file.count > 8 {
            let place = file.count - 8
            let changed = min(place - 4, max(0, length + file.count - before))
            for byte in 0..<4 {
                file[place + byte] = UInt8(truncatingIfNeeded: changed >> (8 * byte))
            }
        }
        return file
    }

    @Test("a damaged Parquet file, and the memory that its pages take")
    func parquet() throws {
        let names = try TableRows.names("flat-") + TableRows.names("messages-")
        let files =
            try names.map { try TableRows.bytes($0) } + [TableRows.bytes("bad-rows.parquet")]
        var outcome = Outcome()
        let count = Damage.count(4000)
        for number in 0..<count {
            var damage = Damage(number: number)
            let file = Self.damageParquet(files[damage.below(files.count)], &damage)
            let wanted: Set<String>? = damage.below(3) == 0 ? ["messages", "output", "count"] : nil
            let budget = PageBudget()
            try outcome.count {
                var rows: [RowResult] = []
                try file.withUnsafeBytes { bytes in
                    try ParquetTable(bytes).forEachRow(columns: wanted, budget: budget) {
                        rows.append($0)
                    }
                }
                return rows
            }
            // A block of zstd may hold 128 KiB; there are up to 14 leaves.
            #expect(budget.peak <= 2 * file.count + 2 * 14 * (128 << 10), "input \(number)")
        }
        #expect(outcome.rows > count / 4, "\(outcome)")
        #expect(outcome.problems > count / 20, "\(outcome)")
    }

    @Test("a damaged Snappy text fills its length or is refused")
    func snappy() throws {
        var (texts, problems) = (0, 0)
        let count = Damage.count(20000)
        let whole: [[UInt8]] = [
            [0xC1, 1, 0, 0x62] + [UInt8](repeating: 0, count: 3).flatMap { _ in [254, 1, 0] },
            [12, 2 << 2, 97, 98, 99, 1 | 1 << 2, 3, 2 | 3 << 2, 2, 0],
            [8, 60 << 2, 3, 97, 98, 99, 100, 3 | 3 << 2, 4, 0, 0, 0],
        ]
        for number in 0..<count {
            var damage = Damage(number: number)
            let index = damage.below(whole.count)
            var bytes = whole[index]
            let length = [193, 12, 8][index]
            damage.change(&bytes, within: 0..<bytes.count)
            // With the right length at the front, most of the damage is to elements.
            if damage.below(4) > 0 {
                bytes.replaceSubrange(
                    0..<min(bytes.count, index == 0 ? 2 : 1),
                    with: whole[index].prefix(index == 0 ? 2 : 1))
            }
            do {
                #expect(try SnappyTests.decompress(bytes, count: length).count == length)
                texts += 1
            } catch is Snappy.Problem {
                problems += 1
            }
        }
        #expect(texts > count / 20 && problems > count / 20, "\(texts), \(problems)")
    }
}
