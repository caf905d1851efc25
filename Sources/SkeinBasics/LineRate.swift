/// Limits how fast lines that outsiders cause are written, and counts those left out, so that
/// refused peers cannot fill a disk. Pure: the caller gives the time.
package struct LineRate: Sendable {
    private let burst: Int
    private let interval: Duration
    private var allowance: Int
    /// Refills are counted from here.
    private var since: Duration?
    private var leftOut = 0

    /// - Parameters:
    ///   - burst: lines that may be written one right after the other, at least 1.
    ///   - interval: one more line may be written after each interval.
    package init(burst: Int, interval: Duration) {
        precondition(burst > 0 && interval > .zero)
        self.burst = burst
        self.interval = interval
        allowance = burst
    }

    /// Asks for a line; one that may not be written is counted.
    ///
    /// - Parameter now: the time on any clock that never goes back.
    /// - Returns: lines left out since the last one; nil when this one may not be written.
    package mutating func admit(at now: Duration) -> Int? {
        refill(now)
        guard allowance > 0 else {
            leftOut += 1
            return nil
        }
        return take()
    }

    /// The number of lines left out, for a report on a line of its own; nil when there were none or
    /// no line may be written yet.
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
