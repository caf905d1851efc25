import SkeinBasics

/// Lets one of several runs compute at a time, in the order in which they come: runs that compute step
/// after step take turns.
///
/// A run waits for at most one step, or one validation, of each other run.
package final class Turnstile: Sendable {
    private struct State: Sendable {
        /// Whose turn it is.
        var turn = 0
        /// The next one's number.
        var next = 0
    }

    private let condition = Condition(State())

    package init() {}

    /// Calls `body` when all that came before are through.
    ///
    /// - Parameter body: computes; it may not take another turn.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package func pass<Result>(_ body: () throws -> Result) rethrows -> Result {
        let number = condition.change(waking: false) { state in
            defer { state.next += 1 }
            return state.next
        }
        condition.wait { $0.turn == number ? () : nil }
        defer { condition.change { $0.turn += 1 } }
        return try body()
    }

    /// Runs that wait or compute, for tests.
    var count: Int { condition.change(waking: false) { $0.next - $0.turn } }
}
