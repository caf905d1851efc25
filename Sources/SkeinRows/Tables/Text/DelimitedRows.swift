/// Cuts delimited text into rows and cells (RFC 4180). It copies nothing.
struct DelimitedRows {
    /// A cell's bytes, without the quotes around them.
    struct Cell {
        let start: Int
        let end: Int
        /// It holds quotes that are written twice.
        let hasQuotes: Bool
    }

    struct Row {
        /// The line of the file in which it starts.
        let line: Int
        /// Its bytes, without the line break.
        let range: Range<Int>
        /// Its cells are counted beyond those that are kept.
        let cellCount: Int
        /// The first cell, counted from 1, with text after its closing quote; 0 if there is none.
        let badQuoteCell: Int
    }

    private let base: UnsafePointer<UInt8>
    private let count: Int
    private let separator: UInt8
    private var place: Int
    private var line = 1

    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - start: where its text starts.
    ///   - separator: between cells.
    init(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int, separator: UInt8) {
        base = bytes.baseAddress ?? ("" as StaticString).utf8Start
        count = bytes.count
        place = start
        self.separator = separator
    }

    /// Passes blank lines and one row.
    ///
    /// - Parameters:
    ///   - cells: are replaced by the row's.
    ///   - limit: of the cells that are kept.
    /// - Returns: nil at the end of the file.
    /// - Throws: `TableProblem.tornQuote`.
    mutating func next(into cells: inout [Cell], limit: Int) throws(TableProblem) -> Row? {
        while let length = lineBreak(at: place) {
            place &+= length
            line &+= 1
        }
        guard place < count else { return nil }
        cells.removeAll(keepingCapacity: true)
        let (start, firstLine) = (place, line)
        var (cellCount, badQuoteCell) = (0, 0)
        while true {
            var cell: Cell
            if place < count, base[place] == UInt8(ascii: "\"") {
                cell = try quotedCell()
                let end = place
                let rest = plainCell()
                if rest.end > end, badQuoteCell == 0 { badQuoteCell = cellCount + 1 }
            } else {
                cell = plainCell()
            }
            cellCount &+= 1
            if cells.count < limit { cells.append(cell) }
            guard place < count, base[place] == separator else { break }
            place &+= 1
        }
        let end = place
        if let length = lineBreak(at: place) {
            place &+= length
            line &+= 1
        }
        return Row(
            line: firstLine, range: start..<end, cellCount: cellCount, badQuoteCell: badQuoteCell)
    }

    /// Bytes of the line break at `place`: LF, or CR and LF, or a CR that ends the file.
    @inline(__always)
    private func lineBreak(at place: Int) -> Int? {
        guard place < count else { return nil }
        if base[place] == 0x0A { return 1 }
        guard base[place] == 0x0D else { return nil }
        if place &+ 1 == count { return 1 }
        return base[place &+ 1] == 0x0A ? 2 : nil
    }

    /// A cell up to a separator or a line break; quotes inside it are text.
    private mutating func plainCell() -> Cell {
        let start = place
        var place = place
        let (base, count, separator) = (base, count, separator)
        while place < count {
            let byte = base[place]
            if byte == separator || byte == 0x0A { break }
            place &+= 1
        }
        if place > start, base[place &- 1] == 0x0D, place == count || base[place] == 0x0A {
            place &-= 1
        }
        self.place = place
        return Cell(start: start, end: place, hasQuotes: false)
    }

    /// A cell in quotes, and the quotes.
    private mutating func quotedCell() throws(TableProblem) -> Cell {
        let (openLine, start) = (line, place &+ 1)
        var (place, line) = (start, line)
        let (base, count) = (base, count)
        var hasQuotes = false
        while place < count {
            let byte = base[place]
            if byte == UInt8(ascii: "\"") {
                guard place &+ 1 < count, base[place &+ 1] == UInt8(ascii: "\"") else {
                    self.place = place &+ 1
                    self.line = line
                    return Cell(start: start, end: place, hasQuotes: hasQuotes)
                }
                hasQuotes = true
                place &+= 2
            } else {
                if byte == 0x0A { line &+= 1 }
                place &+= 1
            }
        }
        throw .tornQuote(line: openLine)
    }
}
