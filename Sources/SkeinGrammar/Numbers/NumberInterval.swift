import SkeinJSON

/// The values that a network of numbers writes: bounds whose missing sides are filled in and that
/// are rounded inwards to what a text can say.
///
/// **Integers**: a missing side is that of Int64, so that every client can hold the number. If the
/// given side leaves no room before that, the missing side is the largest number with one digit more
/// than the given one. Bounds are rounded inwards to integers. Beyond 2^53 a judge who reads integers
/// as doubles (JavaScript) may take one for its neighbour; one who reads Int64 agrees.
///
/// **Others**: every text has at most D = 15 significant digits (`GrammarLimits.significantDigits`),
/// and so has every limit: one with more is rounded inwards to D and stays exclusive if it was. So a
/// judge who reads text x and bound b as doubles agrees with us. Rounding to a double never swaps an
/// order: from x <= b follows double(x) <= double(b). And decimals of at most D digits have different
/// doubles if they differ: from x < b' follows double(x) < double(b') <= double(b) where b' is b
/// rounded inwards. A missing side is 10^15 - 1, or the largest number with one digit more than the
/// given side (at most D of them not zero) if that is beyond.
///
/// A bound of more than `GrammarLimits.boundDigits` digits before the point is the same as none if
/// it lies outwards (`"maximum": 1.8e308`), and refused if it lies inwards.
struct NumberInterval {
    struct Limit {
        var value: ExactDecimal
        var isExclusive = false

        var negated: Limit { Limit(value: value.negated, isExclusive: isExclusive) }
    }

    let low: Limit
    let high: Limit
    /// 1 if there is none.
    let divisor: Int
    /// Digits after the point that a multiple of 1 / 10^`scale` may have; it is the number without the
    /// point that is a multiple of `divisor`.
    let scale: Int
    let isInteger: Bool
    /// How many digits may stand after the point: 0 for integers.
    let fractionDigits: Int

    /// - Throws: `NumberFlaw.bound`.
    init(_ bounds: NumberBounds) throws(NumberFlaw) {
        var stated = bounds.divisor
        // Never more than the divisor without its point.
        if bounds.isInteger, let divisor = stated { stated = divisor.leastCommonMultiple(.one) }
        divisor = stated?.value ?? 1
        scale = stated?.scale ?? 0
        isInteger = bounds.isInteger || stated != nil && scale == 0
        // The lower side of the mirrored numbers is the upper side.
        var low: Limit?
        if let minimum = bounds.minimum {
            guard minimum.isNegative || minimum.wholeCount <= GrammarLimits.boundDigits else {
                throw .bound(minimum)
            }
            low = Self.lower(minimum, bounds.isMinimumExclusive, isInteger: isInteger)
        }
        var high: Limit?
        if let maximum = bounds.maximum {
            guard !maximum.isNegative || maximum.wholeCount <= GrammarLimits.boundDigits else {
                throw .bound(maximum)
            }
            high =
                Self.lower(maximum.negated, bounds.isMaximumExclusive, isInteger: isInteger)?
                .negated
        }
        let usual = Self.usualEnds(isInteger: isInteger)
        self.low =
            low
            ?? Self.upper(beyond: high?.negated, usual.below, isInteger: isInteger, divisor)
            .negated
        self.high =
            high ?? Self.upper(beyond: low, usual.above, isInteger: isInteger, divisor)
        let most = max(self.low.value.fractionCount, self.high.value.fractionCount)
        fractionDigits =
            isInteger || scale > 0
            ? scale : max(GrammarLimits.fractionDigits, most + GrammarLimits.spareFractionDigits)
    }

    /// A minimum rounded up, or nil if it has so many digits that it says nothing.
    private static func lower(
        _ minimum: ExactDecimal, _ isExclusive: Bool, isInteger: Bool
    ) -> Limit? {
        guard minimum.wholeCount <= GrammarLimits.boundDigits else { return nil }
        guard !isInteger else {
            return Limit(
                value: minimum.ceiling, isExclusive: isExclusive && minimum.isInteger)
        }
        let value = minimum.rounded(
            significantDigits: GrammarLimits.significantDigits, isUp: true)
        return Limit(
            value: value.rounded(toExponent: -GrammarLimits.boundDigits, isUp: true),
            isExclusive: isExclusive)
    }

    /// How far the numbers go on either side if no bound says so; both as magnitudes.
    private static func usualEnds(isInteger: Bool) -> (below: UInt, above: UInt) {
        guard isInteger else {
            // Nothing but nines.
            let digits = 0..<GrammarLimits.significantDigits
            let end = digits.reduce(UInt(0)) { nines, _ in nines * 10 + 9 }
            return (end, end)
        }
        return (UInt(Int64.max) + 1, UInt(Int64.max))
    }

    /// The upper side where only the lower one is given, or none.
    private static func upper(
        beyond low: Limit?, _ usual: UInt, isInteger: Bool, _ divisor: Int
    ) -> Limit {
        // Among `divisor` integers in a row is a multiple.
        let last = ExactDecimal(usual - UInt(divisor - 1))
        guard let low, low.value > last || (low.value == last && low.isExclusive) else {
            return Limit(value: ExactDecimal(usual))
        }
        let count = min(low.value.wholeCount + 1, GrammarLimits.boundDigits)
        let nines = isInteger ? count : min(count, GrammarLimits.significantDigits)
        return Limit(
            value: ExactDecimal(
                digits: Array(repeating: 9, count: nines), exponent: count - nines))
    }
}
