/// How much work a schema may make before it is used. Whoever sends it need not be a friend: a
/// few kilobytes can ask for hours of comparing members of `oneOf` or of combining expressions.
final class WorkBudget {
    private var left = GrammarLimits.schemaWork
    let demand: Demand

    init(_ demand: Demand = Demand()) {
        self.demand = demand
    }

    /// Takes off some units of 20 us each.
    ///
    /// - Throws: `GrammarError.tooLarge`, and `.cancelled` if nobody wants the schema any more.
    func spend(_ units: Int, at pointer: String) throws(GrammarError) {
        left -= max(units, 1)
        guard demand.lasts(for: units * 2_000) else { throw .cancelled }
        guard left >= 0 else {
            throw .tooLarge(what: .work, limit: GrammarLimits.schemaWork, pointer: pointer)
        }
    }
}
