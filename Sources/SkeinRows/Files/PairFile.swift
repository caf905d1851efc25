import Foundation
import SkeinBasics
import SkeinJSON

/// The rows of one data file, in file order.
///
/// In a file of lines, each line is a JSON object. Blank lines, a byte order mark at the start and
/// carriage returns at line ends are ignored. Rows of a table (`DataFileKind`) are objects that
/// have its columns as keys. All rows have one form.
package struct PairFile: Sendable {
    package let path: String
    package let rows: [PairRow]
    /// For each row, its line in the file, counted from 1; of Parquet and JSON lists, its row.
    package let lines: [Int]
    /// For each row, what was found while reading.
    let remarks: [RowRemarks]
    /// Lines that were skipped because they are malformed.
    package let badLineCount: Int
    /// The first few of these.
    package let badLines: [RowError]
    /// The first of these, with its place.
    let firstBadLine: LineFacts.BadLine?
    /// The digest of the file's bytes.
    package let digest: SHA256.Digest

    /// Reads a data file.
    ///
    /// - Parameters:
    ///   - path: a data file.
    ///   - fields: which keys hold the parts of a row.
    ///   - skippingBadLines: count malformed rows and continue (`--skip-bad-lines`).
    ///   - allowingNone: an empty file is allowed (validation data).
    /// - Throws: `FileError`; `RowError.badLine`, `.badTable`, `.missingColumn`,
    ///   `.unreadDataFile`, `.noRows`, `.dataFileTooLarge`, `.tooManyRows`.
    package init(
        path: String, fields: RowFields = RowFields(), skippingBadLines: Bool = false,
        allowingNone: Bool = false
    ) throws {
        try self.init(
            DataFile(path: path), fields: fields, skippingBadLines: skippingBadLines,
            allowingNone: allowingNone)
    }

    /// Reads a data file that is already mapped and hashed.
    init(
        _ file: DataFile, fields: RowFields, skippingBadLines: Bool, allowingNone: Bool
    ) throws {
        let path = file.path
        var reader = Reader(
            path: path, kind: file.kind, fields: fields, skippingBadLines: skippingBadLines)
        try file.mapped.withBytes { try reader.read($0) }
        guard allowingNone || !reader.rows.isEmpty else {
            throw RowError.noRows(path: path, badLines: reader.badLineCount)
        }
        self.path = path
        rows = reader.rows
        lines = reader.lines
        remarks = reader.remarks
        badLineCount = reader.badLineCount
        badLines = reader.badLines
        firstBadLine = reader.firstBadLine
        digest = file.digest
    }

    /// Whether the bytes of the first bad row, if there is one, tell by themselves what is wrong.
    func canFindBadLineAgain(in file: DataFile) -> Bool {
        switch firstBadLine?.error {
        case nil: true
        case .badLine(_, _, .otherForm): false
        default: file.kind == .lines
        }
    }

    private struct Reader {
        let path: String
        let kind: DataFileKind
        let fields: RowFields
        let skippingBadLines: Bool
        var rows: [PairRow] = []
        var lines: [Int] = []
        var remarks: [RowRemarks] = []
        var badLineCount = 0
        var badLines: [RowError] = []
        var firstBadLine: LineFacts.BadLine?
        /// The form of the first row, and its line.
        var form: (RowForm, line: Int)?
        /// Named parts that no row has had so far.
        var absent: Set<RowFields.Part>

        init(path: String, kind: DataFileKind, fields: RowFields, skippingBadLines: Bool) {
            self.path = path
            self.kind = kind
            self.fields = fields
            self.skippingBadLines = skippingBadLines
            absent = Set(fields.given.keys)
        }

        mutating func read(_ bytes: UnsafeRawBufferPointer) throws {
            do {
                switch kind {
                case .lines: try readLines(bytes)
                case .text where fields.readsParagraphs: try readParagraphs(bytes)
                case .text: try readTexts(bytes)
                case .list: try JSONList(bytes).forEachRow { try add($0) }
                case .csv, .tsv:
                    let table = try DelimitedTable(
                        bytes, separator: UInt8(ascii: kind == .csv ? "," : "\t"),
                        lists: fields.keys(of: \.isList),
                        textsOrLists: fields.keys(of: \.mayBeList))
                    try check(table.columns)
                    try table.forEachRow { try add($0) }
                case .parquet:
                    let table = try ParquetTable(bytes)
                    try check(table.columns)
                    let label = table.isWhole(RowFields.label) ? [RowFields.label] : []
                    // JSON of `tools` is read as text.
                    let lists = fields.keys(of: { $0.isList && $0 != .tools })
                    try table.forEachRow(columns: fields.keys.union(label), lists: lists) {
                        try add($0)
                    }
                }
            } catch let problem as TableProblem {
                throw RowError.badTable(path: path, problem: problem)
            }
            if kind == .lines || kind == .list, !rows.isEmpty { try checkNames() }
        }

        /// A name that nothing answers to would silently train other rows than were meant. (A table is
        /// asked for its columns; a part that is optional may be empty in all of its rows.)
        private func checkNames() throws {
            guard let form = form?.0 else { return }
            for part in RowFields.Part.allCases where fields.given[part] != nil {
                guard part.isUsed(by: form) else {
                    throw RowError.unusedField(path: path, field: part.rawValue, form: form)
                }
                guard !absent.contains(part) else {
                    throw RowError.missingColumn(
                        path: path, field: part.rawValue, column: fields.key(part), columns: [])
                }
            }
        }

        /// A column that was named must be there.
        private func check(_ columns: [String]) throws {
            for part in RowFields.Part.allCases {
                guard let key = fields.given[part], !columns.contains(where: { $0.isSame(as: key) })
                else { continue }
                throw RowError.missingColumn(
                    path: path, field: part.rawValue, column: key, columns: columns)
            }
        }

        private mutating func readLines(_ bytes: UnsafeRawBufferPointer) throws {
            try forEachLine(of: bytes) { line, number, offset in
                try add(line, number: number, bytes: offset..<(offset + line.count))
            }
        }

        /// Each line is a text.
        private mutating func readTexts(_ bytes: UnsafeRawBufferPointer) throws {
            var wrapping = WrappedLines()
            try forEachLine(of: bytes) { line, number, offset in
                wrapping.add(line, number)
                try addText(line, number: number, bytes: offset..<(offset + line.count))
            }
            for (index, line) in lines.enumerated() where wrapping.continues(line) {
                remarks[index].insert(.wrappedLine)
            }
        }

        /// What blank lines separate is a text, with the line ends inside of it.
        private mutating func readParagraphs(_ bytes: UnsafeRawBufferPointer) throws {
            var (number, next, start, end) = (0, 0, 0, 0)
            func range() -> Range<Int> { start..<end }
            try forEachLine(of: bytes) { line, lineNumber, offset in
                if lineNumber != next {
                    if number > 0 { try addParagraph(bytes, range(), number) }
                    (number, start) = (lineNumber, offset)
                }
                (next, end) = (lineNumber + 1, offset + line.count)
            }
            if number > 0 { try addParagraph(bytes, range(), number) }
        }

        private mutating func addParagraph(
            _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ number: Int
        ) throws {
            let text = UnsafeRawBufferPointer(rebasing: bytes[range])
            guard text.count <= Limits.lineBytes, text.contains(0x0D) else {
                return try addText(text, number: number, bytes: range)
            }
            let plain = Array(ByteLines(text).map { Array($0.line) }.joined(separator: [0x0A]))
            try plain.withUnsafeBytes { try addText($0, number: number, bytes: range) }
        }

        private mutating func addText(
            _ bytes: UnsafeRawBufferPointer, number: Int, bytes range: Range<Int>
        ) throws {
            do throws(LineProblem) {
                guard bytes.count <= Limits.lineBytes else {
                    throw .tooLong(bytes: bytes.count, limit: Limits.lineBytes)
                }
                guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
                try keep(.text(text), .text, [], number)
            } catch {
                try pass(error, number: number, bytes: range)
            }
            try checkCount()
        }

        private func forEachLine(
            of bytes: UnsafeRawBufferPointer,
            _ body: (_ line: UnsafeRawBufferPointer, _ number: Int, _ offset: Int) throws -> Void
        ) throws {
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            let text = UnsafeRawBufferPointer(
                rebasing: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...])
            for (number, line) in ByteLines(text) where !Self.isBlank(line) {
                guard let start = line.baseAddress, let origin = bytes.baseAddress else { continue }
                try body(line, number, start - origin)
            }
        }

        private mutating func add(_ row: RowResult) throws {
            switch row {
            case .success(let row):
                try row.json.withUnsafeBytes { try add($0, number: row.number, bytes: 0..<0) }
            case .failure(let bad):
                try pass(
                    .cells(what: bad.problem, remedy: bad.remedy), number: bad.number, bytes: 0..<0)
            }
        }

        private mutating func add(
            _ line: UnsafeRawBufferPointer, number: Int, bytes: Range<Int>
        ) throws {
            do throws(LineProblem) {
                let read = try ReadRow(line, fields)
                var remarks = read.remarks
                // A table's nulls are what the others say with absent fields.
                if kind == .parquet { remarks.remove(RowRemarks(.explicitNull)) }
                try keep(read.row, read.form, remarks, number)
                absent.formIntersection(read.absent)
            } catch {
                try pass(error, number: number, bytes: bytes)
            }
            try checkCount()
        }

        private func checkCount() throws {
            guard rows.count <= RowLimits.rows else {
                throw RowError.tooManyRows(path: path, limit: RowLimits.rows)
            }
        }

        private mutating func keep(
            _ row: PairRow, _ form: RowForm, _ found: RowRemarks, _ number: Int
        ) throws(LineProblem) {
            if let first = self.form, first.0 != form {
                throw .otherForm(found: form, first: first.0, line: first.line)
            }
            if self.form == nil { self.form = (form, number) }
            rows.append(row)
            lines.append(number)
            remarks.append(row.remarks.union(found))
        }

        /// Passes over a malformed row, if that is wanted.
        private mutating func pass(
            _ problem: LineProblem, number: Int, bytes: Range<Int>
        ) throws {
            let bad = RowError.badLine(path: path, line: number, problem: problem)
            guard skippingBadLines else { throw bad }
            badLineCount += 1
            if firstBadLine == nil {
                firstBadLine = LineFacts.BadLine(number: number, bytes: bytes, error: bad)
            }
            if badLines.count < Limits.keptBadLines { badLines.append(bad) }
        }

        private static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
            line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        }
    }
}
