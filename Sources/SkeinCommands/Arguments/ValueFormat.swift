import Foundation
import SkeinBasics

/// How the text of an argument becomes a value, and how an error says what would have been right.
struct ValueFormat<Value: Sendable>: Sendable {
    /// What help prints behind the option's name, for instance `N`.
    let placeholder: String
    /// The rest of the sentence "--rank takes ...".
    let accepted: String
    /// All words that are accepted, when they can be listed.
    let choices: [String]
    /// The value, or nil when the text is not one.
    let read: @Sendable (String) -> Value?
    /// The value as `--print-config` and run.json show it.
    let json: @Sendable (Value) -> JSONLine.Value

    init(
        placeholder: String, accepted: String, choices: [String] = [],
        read: @escaping @Sendable (String) -> Value?,
        json: @escaping @Sendable (Value) -> JSONLine.Value
    ) {
        self.placeholder = placeholder
        self.accepted = accepted
        self.choices = choices
        self.read = read
        self.json = json
    }
}

extension ValueFormat where Value == Int {
    /// A whole number in `range`.
    static func integer(_ range: ClosedRange<Int>) -> ValueFormat {
        let accepted =
            range.upperBound == .max
            ? "a whole number from \(range.lowerBound) up"
            : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return ValueFormat(
            placeholder: "N", accepted: accepted,
            read: { text in Int(text).flatMap { range.contains($0) ? $0 : nil } },
            json: { .integer($0) })
    }
}

extension ValueFormat where Value == Double {
    /// A number in `range`.
    static func number(_ range: ClosedRange<Double>) -> ValueFormat {
        number(
            "a number from \(decimal(range.lowerBound)) to \(decimal(range.upperBound))"
        ) { range.contains($0) }
    }

    /// A number from `range.lowerBound` to just below `range.upperBound`.
    static func number(_ range: Range<Double>) -> ValueFormat {
        number(
            "a number from \(decimal(range.lowerBound)) to below \(decimal(range.upperBound))"
        ) { range.contains($0) }
    }

    /// A number above `bound` and not above `last`.
    static func number(above bound: Double, to last: Double) -> ValueFormat {
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
                // Double also reads "inf", "nan" and hexadecimal digits; nobody means those here.
                guard text.allSatisfy({ "+-.0123456789eE".contains($0) }), let value = Double(text)
                else { return nil }
                return value.isFinite && isAccepted(value) ? value : nil
            },
            json: { .number($0) })
    }

    private static func decimal(_ number: Double) -> String {
        JSONLine.render(.number(number))
    }
}

extension ValueFormat where Value == String {
    /// Any text, the empty one too.
    static func text(_ placeholder: String) -> ValueFormat {
        ValueFormat(
            placeholder: placeholder, accepted: "a text", read: { $0 }, json: { .string($0) })
    }

    /// A path; it is looked at when it is used.
    static func path(_ placeholder: String = "PATH") -> ValueFormat {
        ValueFormat(
            placeholder: placeholder, accepted: "a path",
            read: { $0.isEmpty || $0.contains("\0") ? nil : $0 }, json: { .string($0) })
    }
}

extension ValueFormat where Value == Bool {
    /// `on` or `off`; a configuration file may say true or false.
    static var onOff: ValueFormat {
        ValueFormat(
            placeholder: "on|off", accepted: "on or off", choices: ["on", "off"],
            read: { text in
                switch text {
                case "on", "true": true
                case "off", "false": false
                default: nil
                }
            },
            json: { .string($0 ? "on" : "off") })
    }

    /// What a flag without a value is kept as.
    static var presence: ValueFormat {
        ValueFormat(
            placeholder: "", accepted: "true or false", choices: ["true", "false"],
            read: { text in text == "true" ? true : text == "false" ? false : nil },
            json: { .bool($0) })
    }
}

extension ValueFormat
where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// One of the raw values of an enumeration.
    static var choice: ValueFormat {
        let words = Value.allCases.map(\.rawValue)
        return ValueFormat(
            placeholder: words.joined(separator: "|"), accepted: Words.either(words),
            choices: words, read: { Value(rawValue: $0) }, json: { .string($0.rawValue) })
    }
}

extension ValueFormat {
    /// The same texts for an option that may also be absent.
    var optional: ValueFormat<Value?> {
        ValueFormat<Value?>(
            placeholder: placeholder, accepted: accepted, choices: choices,
            read: { text in read(text).map { .some($0) } },
            json: { value in value.map(json) ?? .null })
    }
}
