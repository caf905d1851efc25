import SkeinBasics

/// What a benchmark found, for programs and for people.
package struct BenchReport: Sendable {
    package var fields: [JSONLine.Field]
    package var text: String
    /// A bar that was missed: to be shown behind the figures.
    package var failure: BenchError?

    /// - Parameters:
    ///   - machine: what was measured on.
    ///   - fields: behind those of the machine.
    ///   - lines: behind the machine's and before the table.
    ///   - table: with a heading, if it has one.
    ///   - leftColumns: of the table, as `TextTable` takes it.
    init(
        _ machine: Machine, _ fields: [JSONLine.Field], _ lines: [String], _ table: [[String]],
        leftColumns: Int = 1
    ) {
        self.fields = [("machine", machine.json)] + fields
        text =
            ([machine.text] + lines).map { $0 + "\n" }.joined() + "\n"
            + TextTable.text(table, leftColumns: leftColumns)
    }
}
