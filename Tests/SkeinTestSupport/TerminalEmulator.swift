/// A terminal with what the panel uses: CR, LF, CUU, EL, ED, SGR, wrapping, scrolling, wide characters,
/// and the wrapping anew of lines when it is made narrower, as VTE, kitty and tmux have it.
package struct TerminalEmulator {
    private struct Row {
        /// A wide character is followed by an empty text.
        var cells: [String] = []
        /// Whether it continues the row before it.
        var continues = false
    }

    package private(set) var columns: Int
    package private(set) var rows: Int
    /// All rows, those that have scrolled away, too.
    private var lines = [Row()]
    private var top = 0
    package private(set) var row = 0
    package private(set) var column = 0
    /// Sequences that it does not know; the panel must not send any.
    package private(set) var unknown: [String] = []

    private let width: @Sendable (String) -> Int

    /// - Parameters:
    ///   - columns: The screen's columns.
    ///   - rows: The screen's rows.
    ///   - width: The columns that a character takes.
    package init(
        columns: Int, rows: Int, width: @escaping @Sendable (String) -> Int = { _ in 1 }
    ) {
        (self.columns, self.rows, self.width) = (columns, rows, width)
    }

    /// What is to be seen, without blanks at the ends of rows and empty rows at the end.
    package var screen: [String] { Self.texts(lines[top...]) }
    /// The same with all that has scrolled away.
    package var everything: [String] { Self.texts(lines[...]) }

    private static func texts(_ rows: ArraySlice<Row>) -> [String] {
        var texts = rows.map { row in
            var text = row.cells.joined()
            while text.last == " " { text.removeLast() }
            return text
        }
        while texts.last == "" { texts.removeLast() }
        return texts
    }

    package mutating func feed(_ text: String) {
        var scalars = Array(text.unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n": lineFeed()
            case "\u{1b}": sequence(&scalars)
            case _ where scalar.value < 0x20: unknown.append("\(scalar.value)")
            default: put(String(scalar))
            }
        }
    }

    private mutating func put(_ character: String) {
        let width = width(character)
        if column + width > columns {
            lineFeed()
            column = 0
            lines[row].continues = true
        }
        while lines[row].cells.count < column + width { lines[row].cells.append(" ") }
        lines[row].cells[column] = character
        if width == 2 { lines[row].cells[column + 1] = "" }
        column += width
    }

    /// As a terminal gets it from a program: the driver makes CR LF of LF.
    private mutating func lineFeed() {
        column = 0
        row += 1
        if row == lines.count { lines.append(Row()) }
        top = max(top, row - rows + 1)
    }

    private mutating func sequence(_ scalars: inout ArraySlice<Unicode.Scalar>) {
        guard scalars.popFirst() == "[" else { return unknown.append("ESC") }
        var number = ""
        while let scalar = scalars.popFirst() {
            if scalar.properties.numericType != nil || scalar == ";" {
                number.unicodeScalars.append(scalar)
                continue
            }
            switch scalar {
            case "A": row = max(top, row - max(1, Int(number) ?? 1))
            case "K" where number.isEmpty:
                lines[row].cells.removeLast(max(0, lines[row].cells.count - column))
            case "J" where number.isEmpty:
                lines[row].cells.removeLast(max(0, lines[row].cells.count - column))
                lines.removeLast(lines.count - row - 1)
            case "m": break
            default: unknown.append("CSI \(number)\(scalar)")
            }
            return
        }
    }

    package mutating func resize(columns: Int, rows: Int) {
        var wrapped: [Row] = []
        var cursor = 0
        var index = 0
        while index < lines.count {
            // A line with all rows that continue it.
            var cells = lines[index].cells
            var hasCursor = index == row
            var offset = column
            index += 1
            while index < lines.count, lines[index].continues {
                if index == row { (hasCursor, offset) = (true, cells.count + column) }
                cells += lines[index].cells
                index += 1
            }
            let first = wrapped.count
            repeat {
                wrapped.append(
                    Row(cells: Array(cells.prefix(columns)), continues: wrapped.count > first))
                cells.removeFirst(min(columns, cells.count))
            } while !cells.isEmpty
            if hasCursor {
                cursor = first + offset / columns
                column = offset % columns
            }
        }
        lines = wrapped
        row = min(cursor, lines.count - 1)
        (self.columns, self.rows) = (columns, rows)
        top = max(0, lines.count - rows)
    }
}
