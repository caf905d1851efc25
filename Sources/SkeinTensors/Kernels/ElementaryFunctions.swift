/// Power, sine and cosine by additions, multiplications and divisions alone, which IEEE 754 rounds
/// in one way: every machine has the same bits.
///
/// A C library's functions differ in the last bit between versions and processors, and the rotary
/// table is made of them.
package enum ElementaryFunctions {
    /// Cosine and sine of an angle within +-2^26 that has the digits of a Float; the error is below
    /// 1e-16. Beyond, digits are lost; but a Float has a step of 4 there, more than half a turn, so
    /// no meaningful angle is that large.
    ///
    /// The angle is reduced to +-pi / 4 by the nearest multiple of pi / 2, which is subtracted in
    /// three parts so that the first two differences are exact (Cody and Waite 1980); then Taylor
    /// series, whose first omitted terms are below 1e-19.
    static func cosineAndSine(_ angle: Double) -> (cosine: Double, sine: Double) {
        let quarters = (angle * (2 / Double.pi)).rounded()
        let exact = (angle - quarters * halfPiHead) - quarters * halfPiMiddle
        let tail = quarters * halfPiTail
        let x = exact - tail
        let rest = (exact - x) - tail
        let square = x * x
        var sine = 0.0
        var cosine = 0.0
        for index in stride(from: sineDivisors.count - 1, through: 0, by: -1) {
            sine = square * sineDivisors[index] * (1 - sine)
            cosine = square * cosineDivisors[index] * (1 - cosine)
        }
        // sin(x + rest) = sin x + rest cos x, cos(x + rest) = cos x - rest sin x.
        sine = x + (rest - x * sine)
        cosine = 1 - (cosine + rest * x)
        switch Int(quarters) & 3 {
        case 0: return (cosine, sine)
        case 1: return (-sine, cosine)
        case 2: return (-cosine, -sine)
        default: return (sine, -cosine)
        }
    }

    /// pi / 2 = head + middle + tail: 26 bits, 27 bits, and the rest.
    private static let halfPiHead = Double(bitPattern: 0x3FF9_21FB_5000_0000)
    private static let halfPiMiddle = Double.pi / 2 - halfPiHead
    private static let halfPiTail = 6.123233995736766e-17

    /// sin x = x (1 - x^2 / 6 (1 - x^2 / 20 (1 - ...))), and the cosine likewise.
    private static let sineDivisors = terms.map { 1 / (2 * $0 * (2 * $0 + 1)) }
    private static let cosineDivisors = terms.map { 1 / ((2 * $0 - 1) * 2 * $0) }
    private static let terms: [Double] = [1, 2, 3, 4, 5, 6, 7, 8, 9]

    /// base^exponent for a base above 0, as exp(exponent log base) with twice the digits of Double:
    /// the result is the double next to the true value, except in about one of 10^12 cases.
    ///
    /// Takes some microseconds; a table needs it once for each frequency.
    package static func power(_ base: Double, _ exponent: Double) -> Double {
        precondition(base > 0 && base.isFinite, "powers of positive numbers only")
        return (logarithm(base) * DoubleDouble(exponent)).exponential
    }

    /// The natural logarithm of a number above 0, as exact as `power`.
    package static func logarithm(_ number: Double) -> Double {
        precondition(number > 0 && number.isFinite, "logarithms of positive numbers only")
        let log: DoubleDouble = logarithm(number)
        return log.high + log.low
    }

    /// exp of a finite number, as exact as `power`; 0 where it is below the smallest normal number.
    package static func exponential(_ number: Double) -> Double {
        precondition(number < 709, "the exponential of \(number) is too large")
        return number < -708 ? 0 : DoubleDouble(number).exponential
    }

    /// log(2^e m) = e log 2 + 2 artanh((m - 1) / (m + 1)), m within a factor of sqrt 2 of 1.
    private static func logarithm(_ number: Double) -> DoubleDouble {
        var (m, e) = (number.significand, Double(number.exponent))
        if m > 1.4142135623730951 { (m, e) = (m / 2, e + 1) }
        let s = DoubleDouble(m - 1) / DoubleDouble(sum: m, 1)
        let square = s * s
        var sum = DoubleDouble(0)
        for k in stride(from: 25, through: 0, by: -1) {
            sum = sum * square + DoubleDouble(1) / DoubleDouble(Double(2 * k + 1))
        }
        return DoubleDouble(2) * s * sum + DoubleDouble(e) * .logarithmOf2
    }
}

/// A number as the exact sum of two doubles, the second below half a unit of the first: 106 bits
/// (Dekker 1971).
private struct DoubleDouble {
    let high: Double
    let low: Double

    static let logarithmOf2 = DoubleDouble(
        high: 0.6931471805599453, low: 2.3190468138462996e-17)

    init(_ number: Double) { self.init(high: number, low: 0) }

    init(high: Double, low: Double) {
        self.high = high
        self.low = low
    }

    /// a + b exactly.
    init(sum a: Double, _ b: Double) {
        high = a + b
        let part = high - a
        low = (a - (high - part)) + (b - part)
    }

    static func + (a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
        let sum = DoubleDouble(sum: a.high, b.high)
        return DoubleDouble(sum: sum.high, sum.low + (a.low + b.low))
    }

    static func * (a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
        let product = a.high * b.high
        // The product's rounding error, exactly.
        let error = (-product).addingProduct(a.high, b.high)
        return DoubleDouble(sum: product, error + (a.high * b.low + a.low * b.high))
    }

    static func / (a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
        let first = a.high / b.high
        let rest = a + b * DoubleDouble(-first)
        let second = rest.high / b.high
        let last = rest + b * DoubleDouble(-second)
        return DoubleDouble(sum: first, second) + DoubleDouble(last.high / b.high)
    }

    /// 2^n exp(r), r within half a log 2 of 0, by Taylor's series to the 26th power.
    var exponential: Double {
        let n = (high / Self.logarithmOf2.high).rounded()
        let r = self + Self.logarithmOf2 * DoubleDouble(-n)
        var sum = DoubleDouble(1)
        for k in stride(from: 26, through: 1, by: -1) {
            sum = DoubleDouble(1) + sum * r / DoubleDouble(Double(k))
        }
        return Double(sign: .plus, exponent: Int(n), significand: sum.high)
    }
}
