import SkeinJSON

/// What the digits before a place in a number's text mean for those after it. Places with the same
/// future are equal as far as this is cheap to see, so that they share a node.
struct NumberPlace: Hashable {
    /// Whether the bounds are meant for negative numbers; false where no bound is tied.
    var isNegative: Bool
    var isFraction = false
    /// Whether all digits so far are those of the lower bound (both of magnitudes).
    var isLowTied = true
    var isHighTied = true
    /// Digits so far, before or after the point; 0 where nothing depends on it.
    var read = 0
    /// How many more digits have to and may follow, before or after the point.
    var least: Int
    var most: Int
    /// Whether there was a digit other than zero: significant digits are counted from there.
    var isBegun = false
    /// The remainder of the digits so far, by the divisor.
    var remainder = 0

    /// All in 64 bits: hashing is most of the work for large divisors. Counts are below 64.
    func hash(into hasher: inout Hasher) {
        let flags =
            (isNegative ? 1 : 0) | (isFraction ? 2 : 0) | (isLowTied ? 4 : 0)
            | (isHighTied ? 8 : 0) | (isBegun ? 16 : 0)
        hasher.combine(flags | read << 5 | least << 11 | most << 17 | remainder << 23)
    }
}

/// The ways through the texts of numbers between two magnitudes (the sign is read before).
///
/// Digits are compared with those of both limits from the first on. Before the point it is open how
/// many digits come. As long as they are a limit's first digits, the text is "tied" to it: it needs
/// as many digits as the lower limit has. Once a digit is below the lower limit's, one more than
/// that; once a digit is above the upper limit's, one less than that one has. After the point, zeros
/// follow a limit's last digit.
struct NumberCourse {
    private let low: Limit
    private let high: Limit
    private let divisor: Int
    /// By the number of digits after the point: what makes the number without a point one with as many
    /// digits as the divisor has; `[1]` where it has none.
    private let powers: [Int]
    private let isInteger: Bool
    private let fractionDigits: Int
    private let isEmpty: Bool

    private struct Limit {
        let whole: [UInt8]
        let fraction: [UInt8]
        let isExclusive: Bool

        init(_ limit: NumberInterval.Limit) {
            whole = limit.value.wholeDigits
            fraction = limit.value.fractionDigits
            isExclusive = limit.isExclusive
        }
    }

    /// - Parameters:
    ///   - low: at least zero.
    ///   - high: if it is below zero there is no number.
    ///   - interval: the limits are on one side of zero, or zero; the rest is taken from here.
    init(low: NumberInterval.Limit, high: NumberInterval.Limit, _ interval: NumberInterval) {
        self.low = Limit(low)
        self.high = Limit(high)
        let divisor = interval.divisor
        self.divisor = divisor
        powers = (0...interval.scale).reversed().map { missing in
            (0..<missing).reduce(1) { power, _ in power * 10 % divisor }
        }
        isInteger = interval.isInteger
        fractionDigits = interval.fractionDigits
        isEmpty = low.value > high.value
    }

    /// Before the first digit.
    func start(isNegative: Bool) -> NumberPlace? {
        if isEmpty { return nil }
        return NumberPlace(
            isNegative: isNegative, least: low.whole.count, most: high.whole.count)
    }

    /// Whether the digits so far, at least one, are a number within the limits.
    func mayEnd(at place: NumberPlace) -> Bool {
        let places = place.isFraction && powers.count > 1 ? place.read : 0
        guard place.least == 0, place.remainder * powers[places] % divisor == 0 else {
            return false
        }
        // Without a further digit before the point, `most` is what is left to the upper limit.
        let isHighTied = place.isHighTied && (place.isFraction || place.most == 0)
        let read = place.isFraction ? place.read : 0
        let isAtLow = place.isLowTied && low.fraction.count <= read
        if place.isLowTied, !isAtLow || low.isExclusive { return false }
        return !(isHighTied && high.fraction.count <= read && high.isExclusive)
    }

    /// After a point that follows the digits so far; nil if none may.
    func point(after place: NumberPlace) -> NumberPlace? {
        guard !isInteger, !place.isFraction, place.least == 0 else { return nil }
        let left = GrammarLimits.significantDigits - place.read
        let most = place.isBegun ? min(fractionDigits, left) : fractionDigits
        guard most > 0 else { return nil }
        return shared(
            NumberPlace(
                isNegative: place.isNegative, isFraction: true, isLowTied: place.isLowTied,
                isHighTied: place.isHighTied && place.most == 0, least: 1, most: most,
                isBegun: place.isBegun, remainder: place.remainder))
    }

    /// After one more digit, 0...9; nil if it may not follow.
    func digit(_ digit: UInt8, after place: NumberPlace) -> NumberPlace? {
        guard place.most > 0 else { return nil }
        var next = place
        next.read += 1
        next.least = max(0, place.least - 1)
        next.most -= 1
        let isKept =
            place.isFraction
            ? takeFraction(digit, at: place.read, &next) : takeWhole(digit, at: place.read, &next)
        guard isKept, next.least <= next.most else { return nil }
        return shared(next)
    }

    /// Ties and counts after a digit before the point. Returns whether it may stand there.
    private func takeWhole(_ digit: UInt8, at index: Int, _ next: inout NumberPlace) -> Bool {
        if !isInteger, index >= GrammarLimits.significantDigits, digit != 0 { return false }
        if next.isLowTied {
            // With more digits than the lower limit it is above it.
            let bound = index < low.whole.count ? low.whole[index] : nil
            next.isLowTied = digit == bound
            if let bound, digit < bound { next.least += 1 }
        }
        if next.isHighTied {
            // It has no more digits than the upper limit, or `most` was zero.
            let bound = high.whole[index]
            next.isHighTied = digit == bound
            if digit > bound { next.most -= 1 }
        }
        next.isBegun = next.isBegun || digit != 0
        // Nothing but a point follows a zero in front.
        if !next.isBegun { next.most = min(0, next.most) }
        next.remainder = (next.remainder * 10 + Int(digit)) % divisor
        return true
    }

    /// Ties and counts after a digit behind the point. Returns whether it may stand there.
    private func takeFraction(_ digit: UInt8, at index: Int, _ next: inout NumberPlace) -> Bool {
        if next.isLowTied {
            let bound = index < low.fraction.count ? low.fraction[index] : 0
            guard digit >= bound else { return false }
            next.isLowTied = digit == bound
        }
        if next.isHighTied {
            let bound = index < high.fraction.count ? high.fraction[index] : 0
            guard digit <= bound else { return false }
            next.isHighTied = digit == bound
        }
        if !next.isBegun, digit != 0 {
            next.isBegun = true
            next.most = min(next.most, GrammarLimits.significantDigits - 1)
        }
        next.remainder = (next.remainder * 10 + Int(digit)) % divisor
        return true
    }

    /// Forgets what makes no difference from here on.
    private func shared(_ place: NumberPlace) -> NumberPlace {
        var place = place
        if place.isFraction {
            if !low.isExclusive, place.read >= low.fraction.count { place.isLowTied = false }
            if place.most <= GrammarLimits.significantDigits { place.isBegun = true }
        }
        guard !place.isLowTied, !place.isHighTied else { return place }
        place.isNegative = false
        // Before the point it says how many significant digits are left.
        if place.isFraction ? powers.count == 1 : isInteger { place.read = 0 }
        return place
    }
}
