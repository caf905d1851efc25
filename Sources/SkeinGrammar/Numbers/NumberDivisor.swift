import SkeinJSON

/// `multipleOf`: `value` / 10^`scale`, no more digits after the point than that needs, and `value` in
/// 1...`GrammarLimits.divisor` (`scaledDivisor` where there is a scale).
struct NumberDivisor: Hashable, Sendable {
    let value: Int
    let scale: Int

    static let one = NumberDivisor(value: 1, scale: 0)

    /// nil if `value` or `scale` would be outside of their limits, or the number is not above 0.
    init?(_ number: ExactDecimal) {
        let scale = number.fractionCount
        guard scale <= GrammarLimits.significantDigits, !number.isNegative,
            let value = number.shifted(by: scale).int
        else { return nil }
        self.init(checking: value, scale: scale)
    }

    private init?(checking value: Int, scale: Int) {
        var (value, scale) = (value, scale)
        while scale > 0, value.isMultiple(of: 10) {
            value /= 10
            scale -= 1
        }
        let most = scale > 0 ? GrammarLimits.scaledDivisor : GrammarLimits.divisor
        guard (1...most).contains(value) else { return nil }
        self.init(value: value, scale: scale)
    }

    private init(value: Int, scale: Int) {
        self.value = value
        self.scale = scale
    }

    /// The number of which exactly the multiples of both are multiples; nil if it is outside of the
    /// limits.
    func leastCommonMultiple(_ other: NumberDivisor) -> NumberDivisor? {
        let scale = max(scale, other.scale)
        let (a, b) = (raised(to: scale), other.raised(to: scale))
        var (divisor, rest) = (a, b)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        let (multiple, isTooLarge) = (a / divisor).multipliedReportingOverflow(by: b)
        return isTooLarge ? nil : NumberDivisor(checking: multiple, scale: scale)
    }

    /// `value` if it were written with so many digits after the point: 4096 x 10^15 at most.
    private func raised(to scale: Int) -> Int {
        (self.scale..<scale).reduce(value) { value, _ in value * 10 }
    }

    func divides(_ number: ExactDecimal) -> Bool {
        number.shifted(by: scale).isMultiple(of: value)
    }
}

extension ExactDecimal {
    /// Times 10^`places`.
    func shifted(by places: Int) -> ExactDecimal {
        ExactDecimal(isNegative: isNegative, digits: digits, exponent: exponent + places)
    }
}
