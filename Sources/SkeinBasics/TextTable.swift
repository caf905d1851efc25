/// Columns of text for people: the first ones to the left, numbers to the right.
package enum TextTable {
    /// The rows as lines, each column as wide as its widest cell.
    ///
    /// - Parameters:
    ///   - rows: The first one is the heading; all have equally many cells.
    ///   - leftColumns: How many columns, from the first, begin at the left.
    /// - Returns: Lines without blanks at their ends.
    package static func text(_ rows: [[String]], leftColumns: Int = 1) -> String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column < leftColumns ? cell + space : space + cell
            }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
