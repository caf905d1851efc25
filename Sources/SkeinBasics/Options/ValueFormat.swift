import SkeinJSON

/// How the text of an argument becomes a value, and how an error says what would have been right.
package struct ValueFormat<Value: Sendable>: Sendable {
    /// What help prints behind the option's name, for instance `N`.
    package let placeholder: String
    /// The rest of the sentence "--rank takes ...".
    package let accepted: String
    /// All words that are accepted, when they can be listed.
    package let choices: [String]
    /// Whether it is the name of a file or folder, which a shell can complete.
    package let isPath: Bool
    /// The value, or nil when the text is not one.
    package let read: @Sendable (String) -> Value?
    /// The value as `--print-config` and run.json have it.
    package let json: @Sendable (Value) -> JSONValue

    package init(
        placeholder: String, accepted: String, choices: [String] = [], isPath: Bool = false,
        read: @escaping @Sendable (String) -> Value?,
        json: @escaping @Sendable (Value) -> JSONValue
    ) {
        self.placeholder = placeholder
        self.accepted = accepted
        self.choices = choices
        self.isPath = isPath
        self.read = read
        self.json = json
    }
}

extension ValueFormat where Value == Int {
    /// A whole number in `range`.
    package static func integer(_ range: ClosedRange<Int>) -> ValueFormat {
        ValueFormat(
            placeholder: "N",
            accepted: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            read: { text in Int(text).flatMap { range.contains($0) ? $0 : nil } },
            json: { .integer($0) })
    }
}

/// Numbers up to `last`: those from `first` on, or those above it.
package struct NumberRange: Sendable {
    package let first: Double
    package let last: Double
    package let excludesFirst: Bool

    package init(_ first: Double, to last: Double) {
        (self.first, self.last, excludesFirst) = (first, last, false)
    }

    package init(above bound: Double, to last: Double) {
        (first, self.last, excludesFirst) = (bound, last, true)
    }

    package func contains(_ number: Double) -> Bool {
        number <= last && (excludesFirst ? number > first : number >= first)
    }

    /// `0 to 1`, or `above 0 and at most 1`.
    package var text: String {
        let (first, last) = (
            ValueFormat<Double>.decimal(first), ValueFormat<Double>.decimal(last)
        )
        return excludesFirst ? "above \(first) and at most \(last)" : "\(first) to \(last)"
    }
}

extension ValueFormat where Value == Int {
    /// Bytes, as a whole number of MiB in `range`.
    package static func mebibytes(_ range: ClosedRange<Int>) -> ValueFormat {
        let count = integer(range)
        return ValueFormat(
            placeholder: count.placeholder, accepted: count.accepted,
            read: { text in count.read(text).map { $0 << 20 } }, json: { .integer($0 >> 20) })
    }
}

extension ValueFormat where Value == Double {
    /// A number in `range`.
    package static func number(_ range: NumberRange) -> ValueFormat {
        range.excludesFirst
            ? number(above: range.first, to: range.last) : number(range.first...range.last)
    }

    /// A number in `range`.
    package static func number(_ range: ClosedRange<Double>) -> ValueFormat {
        number(
            "a number from \(decimal(range.lowerBound)) to \(decimal(range.upperBound))"
        ) { range.contains($0) }
    }

    /// A number from `range.lowerBound` to just below `range.upperBound`.
    package static func number(_ range: Range<Double>) -> ValueFormat {
        number(
            "a number from \(decimal(range.lowerBound)) to below \(decimal(range.upperBound))"
        ) { range.contains($0) }
    }

    /// A number above `bound` and not above `last`.
    package static func number(above bound: Double, to last: Double) -> ValueFormat {
        number("a number above \(decimal(bound)), at most \(decimal(last))") {
            $0 > bound && $0 <= last
        }
    }

    private static func number(
        _ accepted: String, isAccepted: @escaping @Sendable (Double) -> Bool
    ) -> ValueFormat {
        ValueFormat(
            placeholder: "X", accepted: accepted,
            read: { text in
                // Double also reads "inf", "nan" and hexadecimal digits, which are not meant here.
                guard text.allSatisfy({ "+-.0123456789eE".contains($0) }), let value = Double(text)
                else { return nil }
                return value.isFinite && isAccepted(value) ? value : nil
            },
            // One that is not finite was set in code, and is refused by its text before it is written.
            json: { $0.isFinite ? .decimal($0) : .number($0.description) })
    }

    fileprivate static func decimal(_ number: Double) -> String {
        JSONValue.decimal(number).written
    }
}

extension ValueFormat where Value == String {
    /// Any text, the empty one too.
    package static func text(_ placeholder: String) -> ValueFormat {
        ValueFormat(
            placeholder: placeholder, accepted: "a text", read: { $0 }, json: { .text($0) })
    }

    /// A path; it is looked at when it is used.
    package static func path(_ placeholder: String = "PATH") -> ValueFormat {
        ValueFormat(
            placeholder: placeholder, accepted: "a path", isPath: true,
            read: { $0.isEmpty || $0.contains("\0") ? nil : $0 }, json: { .text($0) })
    }
}

extension ValueFormat where Value == Bool {
    /// `on` or `off`; a configuration file may say true or false.
    package static var onOff: ValueFormat {
        ValueFormat(
            placeholder: "on|off", accepted: "on or off", choices: ["on", "off"],
            read: Self.flag, json: { .bool($0) })
    }

    /// The format of an option that takes no value on the command line.
    package static var presence: ValueFormat {
        ValueFormat(
            placeholder: "", accepted: "true or false", choices: ["true", "false"],
            read: Self.flag, json: { .bool($0) })
    }

    private static func flag(_ text: String) -> Bool? {
        switch text {
        case "on", "true": true
        case "off", "false": false
        default: nil
        }
    }
}

extension ValueFormat where Value == Duration {
    /// A whole number and a unit, such as `60s`.
    package static var duration: ValueFormat {
        ValueFormat(
            placeholder: "TIME", accepted: "a time like 500ms, 60s, 5m or 1h",
            read: { DurationText.duration(of: $0) },
            json: { .text(DurationText.text(of: $0)) })
    }
}

extension ValueFormat
where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// One of the raw values of an enumeration.
    package static var choice: ValueFormat { choice(of: Array(Value.allCases)) { $0.rawValue } }
}

extension ValueFormat {
    /// One of some values, by its word.
    package static func choice(
        of values: [Value], word: @escaping @Sendable (Value) -> String
    ) -> ValueFormat {
        let words = values.map(word)
        return ValueFormat(
            placeholder: words.joined(separator: "|"), accepted: Words.either(words),
            choices: words, read: { text in values.first { word($0) == text } },
            json: { .text(word($0)) })
    }

    /// The same texts for an option that may also be absent.
    package var optional: ValueFormat<Value?> {
        ValueFormat<Value?>(
            placeholder: placeholder, accepted: accepted, choices: choices, isPath: isPath,
            read: { text in read(text).map { .some($0) } },
            json: { value in value.map(json) ?? .null })
    }
}

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
