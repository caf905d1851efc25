/// How much work a schema may make before it is used. Its sender need not be a friend: a few
/// kilobytes can ask for hours of comparing members of `oneOf` or of combining expressions.
///
/// It is all that is noted of the demand since the budget was made, so what tells how long it takes, to
/// be asked now and then, is paid for as well, whether it succeeds or not. Here it is seen when that is
/// too much.
final class WorkBudget {
    private let start: Int
    let demand: Demand

    init(_ demand: Demand = Demand()) {
        self.demand = demand
        start = demand.work
    }

    /// Takes off some units of 20 us each, and looks at what is left.
    ///
    /// - Throws: `GrammarError.tooLarge`, and `.cancelled` if the schema is no longer wanted.
    func spend(_ units: Int, at pointer: String) throws(GrammarError) {
        guard demand.lasts(for: max(units, 1) * Self.notes) else { throw .cancelled }
        guard demand.work - start <= GrammarLimits.schemaWork * Self.notes else {
            throw .tooLarge(what: .work, limit: GrammarLimits.schemaWork, pointer: pointer)
        }
    }

    /// What a demand notes for one unit.
    private static let notes = 2_000
}
