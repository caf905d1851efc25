import SkeinBasics

/// What is remembered of a worker by its name, across connections.
package struct Standing: Sendable {
    /// Failures that count, for the cool-down; eight good results in a row clear them.
    package private(set) var failures = 0
    private var acceptedInARow = 0
    /// Connections lost with leases since the last good result.
    private var lostInARow = 0
    package private(set) var quarantinedUntil: Duration?
    private(set) var quarantineReason = ""
    private(set) var accepted = 0
    private(set) var refused = 0
    /// Seconds per token for one thread, by kind of work; moving averages.
    private var gradientPace: Double?
    private var evaluationPace: Double?
    /// When it was last measured, by kind of work.
    private var gradientTried: Duration?
    private var evaluationTried: Duration?
    var lastSeen = Duration.zero
    /// How it left; nil while it is here.
    var departure: Departed?
    /// Connections lost, with leases or without.
    private(set) var losses = 0

    struct Departed: Sendable {
        let address: String
        let isLost: Bool
        let reason: String
    }

    /// Weight of the newest observation.
    private static let newest = 0.3

    func pace(_ kind: WorkKind) -> Double? {
        kind == .gradient ? gradientPace : evaluationPace
    }

    /// When the pace was last measured.
    func tried(_ kind: WorkKind) -> Duration? {
        kind == .gradient ? gradientTried : evaluationTried
    }

    /// Records how long work took.
    ///
    /// - Parameters:
    ///   - secondsPerToken: The observation.
    ///   - kind: The kind of the work; evaluations are faster.
    ///   - now: The time.
    ///   - atLeast: The work was cut short: it counts only if it slows the average down.
    mutating func observe(
        _ secondsPerToken: Double, _ kind: WorkKind, now: Duration, atLeast: Bool = false
    ) {
        let old = pace(kind)
        if kind == .gradient { gradientTried = now } else { evaluationTried = now }
        if atLeast, secondsPerToken <= old ?? 0 { return }
        let new = old.map { $0 + Self.newest * (secondsPerToken - $0) } ?? secondsPerToken
        if kind == .gradient { gradientPace = new } else { evaluationPace = new }
    }

    /// Whether it has given a good result: it is more than a name.
    var isProven: Bool { accepted > 0 }

    mutating func noteAccepted() {
        accepted += 1
        lostInARow = 0
        acceptedInARow += 1
        if acceptedInARow >= 8 { failures = 0 }
    }

    mutating func noteRefused() {
        refused += 1
    }

    /// Records that a connection has ended; `how` it was lost, nil: with a goodbye.
    mutating func depart(from address: String, how: String?, now: Duration) {
        lastSeen = now
        if how != nil { losses += 1 }
        departure = Departed(
            address: address, isLost: how != nil, reason: how ?? "it said goodbye")
    }

    /// Records a connection lost with leases; true from the fourth in a row on.
    mutating func noteLost() -> Bool {
        lostInARow += 1
        return lostInARow >= 4
    }

    /// Counts a failure and returns the cool-down: 1 s, doubled for each failure before.
    mutating func fail(_ reason: String, now: Duration, atMost: Duration) -> Duration {
        failures += 1
        acceptedInARow = 0
        let coolDown = min(.seconds(1 << min(failures - 1, 6)), atMost)
        quarantinedUntil = now + coolDown
        quarantineReason = reason
        return coolDown
    }

    package func remainingQuarantine(now: Duration) -> Duration? {
        guard let quarantinedUntil, quarantinedUntil > now else { return nil }
        return quarantinedUntil - now
    }
}
