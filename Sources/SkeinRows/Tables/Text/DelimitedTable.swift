import SkeinBasics
import SkeinJSON

/// A CSV or TSV file (RFC 4180) whose first line names the columns. Each cell becomes a JSON string.
///
/// Cells may be quoted, with quotes inside written twice, and quoted cells may hold line breaks.
/// Columns of conversations hold JSON arrays, which become part of the row as they are.
package struct DelimitedTable {
    /// In the file's order.
    package let columns: [String]
    private let fields: [Field]
    private let bytes: UnsafeBufferPointer<UInt8>
    private let separator: UInt8
    private let textStart: Int

    /// What a column's cells may be.
    private struct Field {
        enum Kind {
            case text
            /// A JSON array of messages, or text.
            case textOrList
            /// A JSON array, text, or nothing.
            case list
        }

        let name: String
        /// `"name":`
        let key: [UInt8]
        let kind: Kind

        init(name: String, kind: Kind) {
            self.name = name
            key = JSONWriter.key(name)
            self.kind = kind
        }
    }

    /// Reads the names of the columns.
    ///
    /// - Parameters:
    ///   - bytes: the whole file; it must stay where it is as long as the table is used.
    ///   - separator: a comma or a tab.
    ///   - lists: columns whose cells become a part of the row if they are JSON arrays, and are left out if
    ///     they are empty.
    ///   - textsOrLists: columns of which the same is true for JSON arrays of objects with a `role` alone.
    /// - Throws: `TableProblem` of the first line.
    package init(
        _ bytes: UnsafeRawBufferPointer, separator: UInt8,
        lists: Set<String> = ["messages", "conversations", "tools", "history"],
        textsOrLists: Set<String> = ["prompt", "completion", "chosen", "rejected"]
    ) throws(TableProblem) {
        self.bytes = bytes.bindMemory(to: UInt8.self)
        self.separator = separator
        textStart = try TextStart.of(bytes)
        var rows = DelimitedRows(self.bytes, at: textStart, separator: separator)
        var cells: [DelimitedRows.Cell] = []
        guard let row = try rows.next(into: &cells, limit: Limits.columns) else { throw .noHeader }
        guard row.cellCount <= Limits.columns else { throw .tooManyColumns(limit: Limits.columns) }
        var names: [String] = []
        // By UTF-8: two names that are one to Swift are two columns.
        var places: [[UInt8]: Int] = [:]
        for (index, cell) in cells.enumerated() {
            let column = index + 1
            guard row.badQuoteCell != column else {
                throw .badName(column: column, problem: "has text after its closing quote")
            }
            let name = try Self.name(Self.text(of: cell, in: self.bytes), column: column)
            if let other = places.updateValue(column, forKey: Array(name.utf8)) {
                throw .sameName(name, columns: [other, column])
            }
            names.append(name)
        }
        columns = names
        fields = names.map { name in
            Field(
                name: name,
                kind: lists.contains(name)
                    ? .list : textsOrLists.contains(name) ? .textOrList : .text)
        }
    }

    private static func name(_ bytes: [UInt8], column: Int) throws(TableProblem) -> String {
        guard bytes.count <= Limits.nameBytes else {
            throw .badName(
                column: column, problem: "is longer than \(Limits.nameBytes) bytes")
        }
        guard let name = String(validating: bytes, as: UTF8.self) else {
            throw .badName(column: column, problem: "is not UTF-8 text")
        }
        guard !bytes.contains(0x0D) else {
            throw .badName(
                column: column, problem: "holds a carriage return, which ends no line here")
        }
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 }) else {
            throw .emptyName(column: column)
        }
        return name
    }

    /// A cell's bytes, with each doubled quote as one.
    private static func text(
        of cell: DelimitedRows.Cell, in bytes: UnsafeBufferPointer<UInt8>
    ) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(cell.end - cell.start)
        var place = cell.start
        while place < cell.end {
            out.append(bytes[place])
            place += cell.hasQuotes && bytes[place] == UInt8(ascii: "\"") ? 2 : 1
        }
        return out
    }

    /// Gives each row to `body`, in the file's order. Blank lines are no rows.
    ///
    /// A row with another number of cells than the first line, with text after a closing quote, that is
    /// not UTF-8 or too long is a `BadRow`.
    ///
    /// - Parameter body: is called for each row; its errors end the reading.
    /// - Throws: `TableProblem.tornQuote`, `.tooManyRows`; what `body` throws.
    package func forEachRow(_ body: (RowResult) throws -> Void) throws {
        var rows = DelimitedRows(bytes, at: textStart, separator: separator)
        var cells: [DelimitedRows.Cell] = []
        // Once more the first line.
        _ = try rows.next(into: &cells, limit: 0)
        var count = 0
        while let row = try rows.next(into: &cells, limit: fields.count) {
            count += 1
            guard count <= RowLimits.rows else {
                throw TableProblem.tooManyRows(limit: RowLimits.rows)
            }
            try body(result(row, cells))
        }
    }

    private func result(_ row: DelimitedRows.Row, _ cells: [DelimitedRows.Cell]) -> RowResult {
        guard row.range.count <= Limits.rowBytes else { return .failure(.tooLong(row.line)) }
        if row.badQuoteCell > 0 {
            let problem = "cell \(row.badQuoteCell) has text after its closing quote"
            return .failure(
                BadRow(
                    number: row.line, problem: problem,
                    remedy: "write a quote inside a quoted cell as two"))
        }
        guard row.cellCount == fields.count else {
            let problem =
                "the row has \(Figures.count(row.cellCount, "cell")), and the first line names "
                + Figures.count(fields.count, "column")
            return .failure(
                BadRow(
                    number: row.line, problem: problem,
                    remedy: "quote cells that hold a separator or a line break"))
        }
        guard UTF8Check.isValid(raw(row.range)) else { return .failure(.notUTF8(row.line)) }
        var out: [UInt8] = []
        out.reserveCapacity(row.range.count + fields.count * 24)
        out.append(UInt8(ascii: "{"))
        for index in fields.indices {
            let (field, cell) = (fields[index], cells[index])
            if field.kind == .text {
                append(field.key, to: &out)
                append(quoted: cell, to: &out)
            } else {
                append(field, listOrText: cell, to: &out)
            }
        }
        out.append(UInt8(ascii: "}"))
        guard out.count <= Limits.rowBytes else { return .failure(.tooLong(row.line)) }
        return .success(TableRow(number: row.line, json: out))
    }

    private func raw(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[range]))
    }

    /// Appends a key, after a comma unless it is the first.
    private func append(_ key: [UInt8], to out: inout [UInt8]) {
        if out.count > 1 { out.append(UInt8(ascii: ",")) }
        out.append(contentsOf: key)
    }

    private func append(quoted cell: DelimitedRows.Cell, to out: inout [UInt8]) {
        guard cell.hasQuotes else {
            return JSONWriter.append(quoted: raw(cell.start..<cell.end), to: &out)
        }
        out.append(UInt8(ascii: "\""))
        var start = cell.start
        var place = cell.start
        while place < cell.end {
            guard bytes[place] == UInt8(ascii: "\"") else {
                place &+= 1
                continue
            }
            // The first of the two quotes is text.
            JSONWriter.append(escaped: raw(start..<(place + 1)), to: &out)
            place &+= 2
            start = place
        }
        JSONWriter.append(escaped: raw(start..<cell.end), to: &out)
        out.append(UInt8(ascii: "\""))
    }

    /// Appends a cell of a column that may hold lists: a reader that needs one complains of a text.
    private func append(
        _ field: Field, listOrText cell: DelimitedRows.Cell, to out: inout [UInt8]
    ) {
        let first = bytes[cell.start..<cell.end].first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        if first == nil, field.kind == .list { return }
        append(field.key, to: &out)
        guard first == UInt8(ascii: "[") else { return append(quoted: cell, to: &out) }
        var text = Self.text(of: cell, in: bytes)
        // A text may only begin like an array.
        guard text.withUnsafeBufferPointer({ RowJSON.isArray($0) }),
            field.kind == .list || Self.namesRoles(text)
        else { return append(quoted: cell, to: &out) }
        // In JSON, control characters are blanks between values.
        for index in text.indices where text[index] < 0x20 { text[index] = 0x20 }
        out.append(contentsOf: text)
    }

    /// Whether an array may be one of messages. An answer may well be another array.
    private static func namesRoles(_ text: [UInt8]) -> Bool {
        let name = Array("\"role\"".utf8)
        let start = text.lazy.filter { $0 > 0x20 }.prefix(2)
        guard start.elementsEqual("[{".utf8) else { return false }
        return text.withUnsafeBufferPointer { text in
            text.indices.dropLast(name.count).contains { place in
                text[place] == name[0] && text[place...].starts(with: name)
            }
        }
    }
}
