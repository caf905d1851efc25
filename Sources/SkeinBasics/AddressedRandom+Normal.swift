extension AddressedRandom {
    /// A number of the standard normal distribution from one word: the quantile of the middle of its
    /// 2^-32 wide piece of (0, 1), between -6.34 and 6.34, to about two parts in 10^7.
    ///
    /// Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", 1988, PPND7, with a
    /// logarithm of additions, multiplications and divisions alone: the same bits on every machine.
    package static func normal(_ word: UInt32) -> Float {
        let q = (Double(word) + 0.5) * 0x1p-32 - 0.5
        if abs(q) <= 0.425 {
            let r = 0.180625 - q * q
            let above = ((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179
            let below = ((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1
            return Float(q * above / below)
        }
        // At most 4.8: the algorithm's third part, from 5 on, is for shorter tails.
        let t = (-logarithm(0.5 - abs(q))).squareRoot() - 1.6
        let above = ((0.17023821103 * t + 1.3067284816) * t + 2.7568153900) * t + 1.4234372777
        let value = above / ((0.12021132975 * t + 0.73700164250) * t + 1)
        return Float(q < 0 ? -value : value)
    }

    /// ln x = e ln 2 + 2 artanh((m - 1) / (m + 1)) of a normal x = m 2^e, with m in 0.7 ... 1.5: there
    /// the series' thirteenth term is below 2^-56.
    private static func logarithm(_ x: Double) -> Double {
        var (exponent, m) = (Double(x.exponent), x.significand)
        if m > 1.4142135623730951 { (exponent, m) = (exponent + 1, m / 2) }
        let s = (m - 1) / (m + 1)
        let square = s * s
        var sum = 0.0
        for k in stride(from: 23, through: 1, by: -2) { sum = sum * square + 1 / Double(k) }
        return exponent * 0.6931471805599453 + 2 * s * sum
    }
}
