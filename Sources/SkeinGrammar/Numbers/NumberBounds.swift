import SkeinJSON

/// Which numbers a schema allows: an interval, and whether only integers or multiples of one.
struct NumberBounds: Hashable, Sendable {
    var minimum: ExactDecimal?
    var maximum: ExactDecimal?
    /// Whether the minimum itself is not allowed. Without a minimum it says nothing.
    var isMinimumExclusive = false
    /// Whether the maximum itself is not allowed. Without a maximum it says nothing.
    var isMaximumExclusive = false
    /// `multipleOf`.
    var divisor: NumberDivisor?
    var isInteger = false

    /// The numbers that both allow, or nil if the least common multiple of the divisors is outside of
    /// the limits of `NumberDivisor`.
    func intersection(_ other: NumberBounds) -> NumberBounds? {
        var both = self
        both.isInteger = isInteger || other.isInteger
        if let divisor, let second = other.divisor {
            guard let multiple = divisor.leastCommonMultiple(second) else { return nil }
            both.divisor = multiple
        } else {
            both.divisor = divisor ?? other.divisor
        }
        // The narrower bound counts; of equal ones, an exclusive one. No bound is not exclusive.
        if let minimum = [minimum, other.minimum].compactMap(\.self).max() {
            both.minimum = minimum
            both.isMinimumExclusive = [self, other].contains {
                $0.minimum == minimum && $0.isMinimumExclusive
            }
        } else {
            both.isMinimumExclusive = false
        }
        if let maximum = [maximum, other.maximum].compactMap(\.self).min() {
            both.maximum = maximum
            both.isMaximumExclusive = [self, other].contains {
                $0.maximum == maximum && $0.isMaximumExclusive
            }
        } else {
            both.isMaximumExclusive = false
        }
        return both
    }

    /// Exact, for numbers of any size.
    func contains(_ value: ExactDecimal) -> Bool {
        if let minimum, value < minimum || (isMinimumExclusive && value == minimum) {
            return false
        }
        if let maximum, value > maximum || (isMaximumExclusive && value == maximum) {
            return false
        }
        if let divisor, !divisor.divides(value) { return false }
        return !isInteger || value.isInteger
    }

    /// Whether no number is allowed, as far as a comparison of the bounds shows: false is no promise
    /// (no multiple of 7 lies in 1...6). `NetworkBuilder.number` finds the rest.
    var isEmpty: Bool {
        guard let minimum, let maximum else { return false }
        let isWhole = isInteger || divisor?.scale == 0
        let low = isWhole ? minimum.ceiling : minimum
        let high = isWhole ? maximum.floor : maximum
        return low > high || (low == high && !contains(low))
    }
}

/// Why no network was written for bounds.
enum NumberFlaw: Error, Hashable, Sendable {
    /// No text that follows the rules of `NetworkBuilder.number` lies within the bounds.
    case empty
    /// All numbers within this bound have more than `GrammarLimits.boundDigits` digits.
    case bound(ExactDecimal)
}
