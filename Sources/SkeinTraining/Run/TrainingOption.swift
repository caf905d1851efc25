import SkeinBasics
import SkeinModels

/// One option of a run: its name, what it may be, and how it is read and written as text.
package struct TrainingOption: Sendable {
    /// As the flag has it, without dashes.
    package let name: String
    /// What is allowed, in words that follow "give".
    package let allowed: String
    /// Whether the adapter depends on it. Threads, paths and cadences do not count.
    package let shapesResult: Bool
    /// Younger than run.json, offers and digests: where it was not given they do not name it, so that
    /// versions without it read them and digests stay what they were.
    var isNamedOnlyWhenGiven = false
    /// Reads a value from text; false when it is not allowed, nothing is then changed.
    let assign: @Sendable (inout TrainingConfiguration, String) -> Bool
    /// The value as JSON; null for an optional option that was not given.
    package let value: @Sendable (TrainingConfiguration) -> JSONLine.Value

    /// The value as text that `assign` reads back; nil when it was not given.
    package func text(in configuration: TrainingConfiguration) -> String? {
        switch value(configuration) {
        case .string(let text): text
        case .integer(let number): String(number)
        case .number(let number): JSONLine.render(.number(number))
        case .bool(let flag): flag ? "on" : "off"
        case .array(let items):
            items.map { item in
                if case .string(let text) = item { text } else { JSONLine.render(item) }
            }.joined(separator: ",")
        case .null, .object: nil
        }
    }

    /// camelCase, as `--config` files may have it.
    package var camelCaseName: String {
        let words = name.split(separator: "-")
        return words.dropFirst().reduce(String(words.first ?? "")) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}

extension TrainingOption {
    func namedOnlyWhenGiven() -> TrainingOption {
        var option = self
        option.isNamedOnlyWhenGiven = true
        return option
    }
}

// How each kind of option is read and written.
extension TrainingOption {
    typealias Path<Value> = any WritableKeyPath<TrainingConfiguration, Value> & Sendable

    static func integer(
        _ name: String, _ range: ClosedRange<Int>, _ path: Path<Int>, shapesResult: Bool = true
    ) -> TrainingOption {
        TrainingOption(
            name: name,
            allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            shapesResult: shapesResult,
            assign: { configuration, text in
                guard let number = Int(text), range.contains(number) else { return false }
                configuration[keyPath: path] = number
                return true
            }, value: { .integer($0[keyPath: path]) })
    }

    static func optionalInteger(
        _ name: String, _ range: ClosedRange<Int>, _ path: Path<Int?>, shapesResult: Bool = true
    ) -> TrainingOption {
        TrainingOption(
            name: name,
            allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            shapesResult: shapesResult,
            assign: { configuration, text in
                guard let number = Int(text), range.contains(number) else { return false }
                configuration[keyPath: path] = number
                return true
            }, value: { $0[keyPath: path].map { .integer($0) } ?? .null })
    }

    static func number(
        _ name: String, _ allowed: String, _ path: Path<Double>,
        where isAllowed: @escaping @Sendable (Double) -> Bool
    ) -> TrainingOption {
        TrainingOption(
            name: name, allowed: allowed, shapesResult: true,
            assign: { configuration, text in
                guard let number = Double(text), number.isFinite, isAllowed(number) else {
                    return false
                }
                configuration[keyPath: path] = number
                return true
            }, value: { .number($0[keyPath: path]) })
    }

    static func choice<Value: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, _ path: Path<Value>, shapesResult: Bool = true
    ) -> TrainingOption where Value.RawValue == String {
        TrainingOption(
            name: name,
            allowed: "one of " + Value.allCases.map(\.rawValue).joined(separator: ", "),
            shapesResult: shapesResult,
            assign: { configuration, text in
                guard let value = Value(rawValue: text) else { return false }
                configuration[keyPath: path] = value
                return true
            }, value: { .string($0[keyPath: path].rawValue) })
    }

    static func toggle(
        _ name: String, _ path: Path<Bool>, shapesResult: Bool
    ) -> TrainingOption {
        TrainingOption(
            name: name, allowed: "on or off", shapesResult: shapesResult,
            assign: { configuration, text in
                switch text {
                case "on", "true": configuration[keyPath: path] = true
                case "off", "false": configuration[keyPath: path] = false
                default: return false
                }
                return true
            }, value: { .bool($0[keyPath: path]) })
    }

    static func path(_ name: String, _ path: Path<String?>) -> TrainingOption {
        TrainingOption(
            name: name, allowed: "a path", shapesResult: false,
            assign: { configuration, text in
                guard !text.isEmpty else { return false }
                configuration[keyPath: path] = text
                return true
            }, value: { $0[keyPath: path].map { .string($0) } ?? .null })
    }

    static let targetModules = TrainingOption(
        name: "target-modules",
        allowed: "a list, separated by commas, of "
            + TargetModule.allCases.map(\.name).joined(separator: ", "),
        shapesResult: true,
        assign: { configuration, text in
            var modules: Set<TargetModule> = []
            for name in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let module = TargetModule(name: String(name)) else { return false }
                modules.insert(module)
            }
            configuration.targetModules = modules.sorted()
            return true
        }, value: { .array($0.targetModules.map { .string($0.name) }) })

    static let layers = TrainingOption(
        name: "layers",
        allowed: "all, a number for the last so many layers, or a range like 8-23",
        shapesResult: true,
        assign: { configuration, text in
            guard let layers = LayerSelection(text) else { return false }
            configuration.layers = layers
            return true
        }, value: { .string($0.layers.text) })

    static let patience = TrainingOption(
        name: "patience", allowed: "a time like 500ms, 60s, 5m or 1h", shapesResult: false,
        assign: { configuration, text in
            guard let duration = DurationText.duration(of: text) else { return false }
            configuration.patience = duration
            return true
        }, value: { .string(DurationText.text(of: $0.patience)) })
}

/// Durations as flags have them: a whole number and ms, s, m or h; a bare number is seconds.
package enum DurationText {
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
        let milliseconds =
            Int(duration.components.seconds) * 1000
            + Int(duration.components.attoseconds / 1_000_000_000_000_000)
        let unit = milliseconds % 1000 == 0 ? units[1] : units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
