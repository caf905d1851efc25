/// Whether what is being made is still wanted: whatever takes long asks now and then, and ends with
/// `GrammarError.cancelled` if it is not.
///
/// Not thread-safe: one for each piece of work.
final class Demand {
    private let isWanted: @Sendable () -> Bool
    private var units = 0
    private var counted = 0
    /// Whether the answer was no. What was made since is of no use.
    private(set) var hasEnded = false

    /// All that was noted, in units of some 10 ns.
    var work: Int { counted + units }

    /// Until the end of the work if nothing else is said.
    init(_ isWanted: @escaping @Sendable () -> Bool = Demand.always) {
        self.isWanted = isWanted
    }

    /// The caller waits for it whatever happens.
    static let always: @Sendable () -> Bool = { true }

    /// Notes some work, in units of some 10 ns, and asks if there was enough since the last time.
    ///
    /// - Returns: whether to go on.
    @inline(__always)
    func lasts(for work: Int = 1) -> Bool {
        units += work
        return units < GrammarLimits.unaskedWork ? !hasEnded : asks()
    }

    /// Asks now.
    func asks() -> Bool {
        counted += units
        units = 0
        if !hasEnded { hasEnded = !isWanted() }
        return !hasEnded
    }

    /// Calls `body`, whose result counts only if it is wanted then.
    ///
    /// - Throws: `GrammarError.cancelled` in the place of its error, too.
    func making<Result>(
        _ body: () throws(GrammarError) -> Result
    ) throws(GrammarError) -> Result {
        let result: Result
        do throws(GrammarError) {
            guard asks() else { throw .cancelled }
            result = try body()
        } catch {
            throw hasEnded ? .cancelled : error
        }
        guard !hasEnded else { throw .cancelled }
        return result
    }
}
