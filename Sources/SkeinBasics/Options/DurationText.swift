/// Durations as flags have them: a whole number and ms, s, m or h; a bare number is seconds.
package enum DurationText {
    private static let mostSeconds: Int64 = 1 << 50

    private static let units: [(name: String, milliseconds: Int)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]

    /// The duration of a text, or nil when it is none.
    package static func duration(of text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count)
        guard let count = Int(digits), count <= 1_000_000_000,
            let unit = units.first(where: { $0.name == (suffix.isEmpty ? "s" : suffix) })
        else { return nil }
        return .milliseconds(count * unit.milliseconds)
    }

    /// The text that `duration(of:)` reads back.
    package static func text(of duration: Duration) -> String {
        // A program may set any; one that is longer than a text can say is refused by that text.
        let whole = max(-Self.mostSeconds, min(Self.mostSeconds, duration.components.seconds))
        let milliseconds =
            Int(whole) * 1000 + Int(duration.components.attoseconds / 1_000_000_000_000_000)
        let unit = milliseconds % 1000 == 0 ? units[1] : units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
