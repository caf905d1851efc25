import SkeinBasics
import SkeinJSON

/// What a benchmark found, for programs and for people.
package struct BenchReport: Sendable {
    package var fields: [(String, JSONValue)]
    package var text: String
    /// A bar that was missed; shown after the figures.
    package var failure: BenchError?

    /// - Parameters:
    ///   - machine: what was measured on.
    ///   - fields: shown after the machine's.
    ///   - lines: shown after the machine's line and before the table.
    ///   - table: its rows, with the heading if it has one.
    ///   - leftColumns: as `TextTable` takes it.
    init(
        _ machine: Machine, _ fields: [(String, JSONValue)], _ lines: [String], _ table: [[String]],
        leftColumns: Int = 1
    ) {
        self.fields = [("machine", machine.json)] + fields
        text =
            ([machine.text] + lines).map { $0 + "\n" }.joined() + "\n"
            + TextTable.text(table, leftColumns: leftColumns)
    }
}
