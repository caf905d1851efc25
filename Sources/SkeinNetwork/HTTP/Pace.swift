import Foundation

/// How fast a client sends or takes: its bytes, of which each second forgets half. What has come at
/// once and then stands still counts less and less, however much it was. Pure.
struct Pace {
    private var value: Double
    private var at: ContinuousClock.Instant

    init(at now: ContinuousClock.Instant) {
        value = Double(Limits.paceCredit)
        at = now
    }

    mutating func add(_ bytes: Int, at now: ContinuousClock.Instant) {
        value = self.bytes(at: now) + Double(bytes)
        at = max(at, now)
    }

    /// Bytes that count at a moment.
    func bytes(at now: ContinuousClock.Instant) -> Double {
        value * exp2(-max(0, (now - at) / .seconds(1)))
    }
}
