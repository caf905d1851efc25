import Foundation

/// What a value must be beyond its type.
///
/// ```swift
/// @Guide(description: "From bad to good", .range(1...5))
/// var rating: Int
/// ```
///
/// All guides of a property hold at once. A model cannot write a value that breaks one.
public struct GenerationGuide<Value>: Sendable {
    let rules: [GuideRule]

    init(_ rules: GuideRule...) {
        self.rules = rules
    }
}

extension GenerationGuide where Value == String {
    /// Always this text.
    public static func constant(_ value: String) -> GenerationGuide<String> {
        GenerationGuide(.choices([value]))
    }

    /// One of these texts.
    public static func anyOf(_ values: [String]) -> GenerationGuide<String> {
        GenerationGuide(.choices(values))
    }

    /// A text that matches a regular expression as a whole.
    ///
    /// A literal and `Regex("...")` have a text. Only some of what is built with RegexBuilder has
    /// one that says the same; the rest gives `GenerationSchema.SchemaError.invalidGuide` when the
    /// schema is used. docs/SCHEMAS.md says what cannot be enforced.
    public static func pattern<Output>(_ regex: Regex<Output>) -> GenerationGuide<String> {
        GenerationGuide(GuideRule(regex))
    }

    /// A text that matches a regular expression as a whole, given as its source. `@Guide` uses it for
    /// literals.
    public static func pattern(source: String) -> GenerationGuide<String> {
        GenerationGuide(.pattern(source))
    }
}

extension GuideRule {
    init(_ regex: Regex<some Any>) {
        self = RegexSource.text(of: regex).map(Self.pattern) ?? .unknownPattern
    }
}

extension GenerationGuide where Value == Int {
    /// At least this value.
    public static func minimum(_ value: Int) -> GenerationGuide<Int> {
        GenerationGuide(.minimum(.number(NumberText(value))))
    }

    /// At most this value.
    public static func maximum(_ value: Int) -> GenerationGuide<Int> {
        GenerationGuide(.maximum(.number(NumberText(value))))
    }

    /// A value of a range, its ends included.
    public static func range(_ range: ClosedRange<Int>) -> GenerationGuide<Int> {
        GenerationGuide(
            .minimum(.number(NumberText(range.lowerBound))),
            .maximum(.number(NumberText(range.upperBound))))
    }
}

extension GenerationGuide where Value == Float {
    /// At least this value.
    public static func minimum(_ value: Float) -> GenerationGuide<Float> {
        GenerationGuide(.minimum(GuideRule.Bound(value)))
    }

    /// At most this value.
    public static func maximum(_ value: Float) -> GenerationGuide<Float> {
        GenerationGuide(.maximum(GuideRule.Bound(value)))
    }

    /// A value of a range, its ends included.
    public static func range(_ range: ClosedRange<Float>) -> GenerationGuide<Float> {
        GenerationGuide(
            .minimum(GuideRule.Bound(range.lowerBound)),
            .maximum(GuideRule.Bound(range.upperBound)))
    }
}

extension GenerationGuide where Value == Double {
    /// At least this value.
    public static func minimum(_ value: Double) -> GenerationGuide<Double> {
        GenerationGuide(.minimum(GuideRule.Bound(value)))
    }

    /// At most this value.
    public static func maximum(_ value: Double) -> GenerationGuide<Double> {
        GenerationGuide(.maximum(GuideRule.Bound(value)))
    }

    /// A value of a range, its ends included.
    public static func range(_ range: ClosedRange<Double>) -> GenerationGuide<Double> {
        GenerationGuide(
            .minimum(GuideRule.Bound(range.lowerBound)),
            .maximum(GuideRule.Bound(range.upperBound)))
    }
}

extension GenerationGuide where Value == Decimal {
    /// At least this value.
    public static func minimum(_ value: Decimal) -> GenerationGuide<Decimal> {
        GenerationGuide(.minimum(NumberText(value).map { .number($0) } ?? .notANumber))
    }

    /// At most this value.
    public static func maximum(_ value: Decimal) -> GenerationGuide<Decimal> {
        GenerationGuide(.maximum(NumberText(value).map { .number($0) } ?? .notANumber))
    }

    /// A value of a range, its ends included.
    public static func range(_ range: ClosedRange<Decimal>) -> GenerationGuide<Decimal> {
        GenerationGuide(
            .minimum(NumberText(range.lowerBound).map { .number($0) } ?? .notANumber),
            .maximum(NumberText(range.upperBound).map { .number($0) } ?? .notANumber))
    }
}

extension GenerationGuide {
    /// At least this many elements.
    public static func minimumCount<Element>(_ count: Int) -> GenerationGuide<[Element]>
    where Value == [Element] {
        GenerationGuide(.minimumCount(count))
    }

    /// At most this many elements.
    public static func maximumCount<Element>(_ count: Int) -> GenerationGuide<[Element]>
    where Value == [Element] {
        GenerationGuide(.maximumCount(count))
    }

    /// Exactly this many elements.
    public static func count<Element>(_ count: Int) -> GenerationGuide<[Element]>
    where Value == [Element] {
        GenerationGuide(.minimumCount(count), .maximumCount(count))
    }

    /// A number of elements within a range, its ends included.
    public static func count<Element>(_ range: ClosedRange<Int>) -> GenerationGuide<[Element]>
    where Value == [Element] {
        GenerationGuide(.minimumCount(range.lowerBound), .maximumCount(range.upperBound))
    }

    /// A guide for each element.
    public static func element<Element>(
        _ guide: GenerationGuide<Element>
    ) -> GenerationGuide<[Element]> where Value == [Element] {
        GenerationGuide(.element(guide.rules))
    }
}

/// What `@Guide(.count(3))` is when it is checked, before it is known which array it is for.
extension GenerationGuide where Value == [Never] {
    /// For `@Guide` alone.
    public static func minimumCount(_ count: Int) -> GenerationGuide<Value> {
        GenerationGuide(.minimumCount(count))
    }

    /// For `@Guide` alone.
    public static func maximumCount(_ count: Int) -> GenerationGuide<Value> {
        GenerationGuide(.maximumCount(count))
    }

    /// For `@Guide` alone.
    public static func count(_ count: Int) -> GenerationGuide<Value> {
        GenerationGuide(.minimumCount(count), .maximumCount(count))
    }

    /// For `@Guide` alone.
    public static func count(_ range: ClosedRange<Int>) -> GenerationGuide<Value> {
        GenerationGuide(.minimumCount(range.lowerBound), .maximumCount(range.upperBound))
    }
}
