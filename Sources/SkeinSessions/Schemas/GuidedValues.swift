import SkeinGrammar
import SkeinJSON

/// Guides as keywords of JSON Schema.
enum GuidedValues {
    typealias Place = SchemaResolver.Place

    static func invalid(_ place: Place, _ what: String) -> GenerationSchema.SchemaError {
        .invalidGuide(
            schema: place.schema, property: place.path, context: .init(debugDescription: what))
    }

    private static func misplaced(_ place: Place) -> GenerationSchema.SchemaError {
        invalid(place, "it is not for values of this type")
    }

    /// Texts. A pattern is about the whole text, and JSON Schema's is found anywhere.
    ///
    /// - Throws: `SchemaError.invalidGuide`.
    static func text(
        _ rules: [GuideRule], _ place: Place
    ) throws(GenerationSchema.SchemaError) -> [JSONField] {
        var choices: [String]?
        var patterns: [JSONField] = []
        for rule in rules {
            switch rule {
            case .choices(let listed):
                let allowed = Set(listed)
                var known: Set<String> = []
                choices = (choices ?? listed).filter {
                    allowed.contains($0) && known.insert($0).inserted
                }
            case .pattern(let source):
                if let difference = RegexSource.difference(in: source) {
                    throw invalid(place, difference)
                }
                patterns.append(JSONField("pattern", .text("^(?:\(source))$")))
            case .unknownPattern:
                throw invalid(
                    place,
                    "its pattern has no text: write it as a literal, not with RegexBuilder")
            default: throw misplaced(place)
            }
        }
        var fields = [JSONField("type", .text("string"))]
        if let choices {
            guard !choices.isEmpty else { throw invalid(place, "no text satisfies it") }
            fields.append(JSONField("enum", .list(choices.map(JSONValue.text))))
        }
        fields += patterns.prefix(1)
        if patterns.count > 1 {
            let others = patterns.dropFirst().map { JSONValue.object([$0]) }
            fields.append(JSONField("allOf", .list(others)))
        }
        return fields
    }

    /// Arrays.
    ///
    /// - Throws: `SchemaError.invalidGuide`.
    static func list(
        _ least: Int?, _ most: Int?, _ rules: [GuideRule], _ place: Place
    ) throws(GenerationSchema.SchemaError) -> (counts: [JSONField], elementRules: [GuideRule]) {
        var (least, most) = (least, most)
        var elementRules: [GuideRule] = []
        for rule in rules {
            switch rule {
            case .minimumCount(let count): least = max(least ?? count, count)
            case .maximumCount(let count): most = min(most ?? count, count)
            case .element(let rules): elementRules += rules
            default: throw misplaced(place)
            }
        }
        for count in [least, most] {
            if let count, count < 0 {
                throw invalid(place, "\(count) is no number of elements")
            }
        }
        if let least, let most, least > most {
            throw invalid(place, "the least number of elements, \(least), is above \(most)")
        }
        var counts: [JSONField] = []
        if let least, least > 0 { counts.append(JSONField("minItems", .number("\(least)"))) }
        if let most { counts.append(JSONField("maxItems", .number("\(most)"))) }
        return (counts, elementRules)
    }
}

/// Numbers.
extension GuidedValues {
    /// Numbers that the type holds, and that read back as the same value.
    ///
    /// SkeinGrammar writes whole numbers of 64 bits, and others of at most 15 digits, without bounds
    /// below 10^15. That suits all types but one: a Float with a large minimum needs a maximum. Two
    /// bounds that leave no room for 15 digits allow the bounds themselves.
    ///
    /// - Throws: `SchemaError.invalidGuide`.
    static func number(
        _ type: SchemaForm.NumberType, _ rules: [GuideRule], _ place: Place
    ) throws(GenerationSchema.SchemaError) -> [JSONField] {
        var low: NumberText?
        var high: NumberText?
        for rule in rules {
            switch rule {
            case .minimum(.number(let bound)): low = max(low ?? bound, bound)
            case .maximum(.number(let bound)): high = min(high ?? bound, bound)
            case .minimum(.negativeInfinity), .maximum(.infinity): break
            case .minimum, .maximum: throw invalid(place, "a bound that no number satisfies")
            default: throw misplaced(place)
            }
        }
        if let low, let high, low > high {
            throw invalid(place, "the minimum, \(low.text), is above the maximum, \(high.text)")
        }
        if case .float = type {
            let large = NumberText(checked: "1e15")
            let most = NumberText(checked: "3.4028235e38")
            if high == nil, let low, low > large { high = most }
            let least = NumberText(checked: "-3.4028235e38")
            if low == nil, let high, high < NumberText(checked: "-1e15") { low = least }
        }
        let isInteger = if case .integer = type { true } else { false }
        let name = JSONField("type", .text(isInteger ? "integer" : "number"))
        if let low, let high {
            if low == high {
                return [name, JSONField("enum", .list([.number(low.normal.description)]))]
            }
            if !isInteger, !hasRoom(low.normal, high.normal) {
                let ends = [low, high].map { JSONValue.number($0.normal.description) }
                return [name, JSONField("enum", .list(ends))]
            }
        }
        var fields = [name]
        if let low { fields.append(JSONField("minimum", .number(low.normal.description))) }
        if let high { fields.append(JSONField("maximum", .number(high.normal.description))) }
        return fields
    }

    /// Whether a number of at most 15 digits, the last of them at least 10^-40, lies within bounds:
    /// SkeinGrammar's `NumberInterval` rounds bounds to these.
    private static func hasRoom(_ low: ExactDecimal, _ high: ExactDecimal) -> Bool {
        func inwards(_ bound: ExactDecimal, isUp: Bool) -> ExactDecimal {
            bound.rounded(significantDigits: 15, isUp: isUp).rounded(toExponent: -40, isUp: isUp)
        }
        return inwards(low, isUp: true) <= inwards(high, isUp: false)
    }
}
