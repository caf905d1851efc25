/// One row as a JSON object in UTF-8, and where it stands.
package struct TableRow: Equatable, Sendable {
    /// The line in which the row starts in CSV and TSV, the number of the row in other files; from
    /// 1.
    package let number: Int
    /// One JSON object. It has no line breaks, except those of a JSON list's own text.
    package let json: [UInt8]

    package init(number: Int, json: [UInt8]) {
        self.number = number
        self.json = json
    }
}

/// A row that cannot be read, though the rows after it can.
package struct BadRow: Error, Equatable, Sendable {
    /// As in `TableRow`.
    package let number: Int
    /// What is wrong, a sentence without a full stop.
    package let problem: String
    /// How to mend it.
    package let remedy: String

    package init(number: Int, problem: String, remedy: String) {
        self.number = number
        self.problem = problem
        self.remedy = remedy
    }
}

package typealias RowResult = Result<TableRow, BadRow>

extension BadRow {
    /// A row of more than `Limits.rowBytes`.
    static func tooLong(_ number: Int) -> BadRow {
        BadRow(
            number: number, problem: "the row is longer than \(Limits.rowBytes >> 20) MiB",
            remedy: "cut it into several rows")
    }
}
