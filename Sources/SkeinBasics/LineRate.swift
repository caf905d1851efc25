/// Limits how fast lines that outsiders cause are written, and counts those that are left out, so that
/// nobody fills a disk by being refused. Pure: the time is the caller's.
package struct LineRate: Sendable {
    private let burst: Int
    private let interval: Duration
    private var allowance: Int
    /// Since when the allowance is what it is.
    private var since: Duration?
    private var leftOut = 0

    /// - Parameters:
    ///   - burst: lines that may be written one right after the other, at least 1.
    ///   - interval: one line more may be written after each of these.
    package init(burst: Int, interval: Duration) {
        precondition(burst > 0 && interval > .zero)
        self.burst = burst
        self.interval = interval
        allowance = burst
    }

    /// Asks for a line; one that may not be written is counted.
    ///
    /// - Parameter now: of any clock that does not go back.
    /// - Returns: when it may be written, how many were left out since the last one.
    package mutating func admit(at now: Duration) -> Int? {
        refill(now)
        guard allowance > 0 else {
            leftOut += 1
            return nil
        }
        return take()
    }

    /// How many lines were left out, when there were any and nobody asked for a line since that could
    /// tell it.
    package mutating func takeLeftOut(at now: Duration) -> Int? {
        refill(now)
        return leftOut > 0 && allowance > 0 ? take() : nil
    }

    private mutating func take() -> Int {
        defer { leftOut = 0 }
        allowance -= 1
        return leftOut
    }

    private mutating func refill(_ now: Duration) {
        guard let since else {
            since = now
            return
        }
        let passed = (now - since) / interval
        guard passed >= 1 else { return }
        let whole = Int(min(passed, Double(burst)))
        allowance = min(burst, allowance + whole)
        self.since = allowance == burst ? now : since + interval * whole
    }
}
