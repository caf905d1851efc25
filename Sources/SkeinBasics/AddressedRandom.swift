/// Random numbers that depend on an address, not on earlier draws.
///
/// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011): the key is
/// made from (seed, purpose), the counter is the address. No generator has a state, so any
/// worker draws the same numbers for the same piece of work, in any order. Checked against the known
/// answers of the authors' library in `AddressedRandomTests`.
package struct AddressedRandom: Sendable, Equatable {
    /// What the numbers are for; two purposes never share a stream.
    package enum Purpose: UInt32, Sendable {
        case adapterInitialization = 1
        case validationSplit = 2
        case epochOrder = 3
        case dropout = 4
        case sampling = 5
        case rounding = 6
        case benchmark = 7
        case embeddingNoise = 8
        case dataShare = 9
    }

    package typealias Block = SIMD4<UInt32>

    /// The two words of the Philox key.
    package let key: SIMD2<UInt32>

    package init(seed: UInt64, purpose: Purpose) {
        let mixed = Self.philox(
            counter: [purpose.rawValue, 0x534b_4549, 0x4e, 0],
            key: [UInt32(truncatingIfNeeded: seed), UInt32(truncatingIfNeeded: seed >> 32)])
        key = [mixed.x, mixed.y]
    }

    /// Four random words at the address (`index`, `a`, `b`, `c`).
    package func block(_ index: UInt32, _ a: UInt32 = 0, _ b: UInt32 = 0, _ c: UInt32 = 0) -> Block
    {
        Self.philox(counter: [index, a, b, c], key: key)
    }

    /// A uniform number in [0, 1) with 24 random bits, from one word.
    package static func unitFloat(_ word: UInt32) -> Float {
        Float(word >> 8) * 0x1p-24
    }

    /// A uniform number in [0, 1) with 53 random bits, from two words.
    package static func unitDouble(_ high: UInt32, _ low: UInt32) -> Double {
        Double((UInt64(high) << 32 | UInt64(low)) >> 11) * 0x1p-53
    }

    /// A permutation of 0 ..< `count`, a function of the key and (`a`, `b`) alone.
    ///
    /// Fisher-Yates from the end; the draw for place `i` is addressed by `i`. The bias of mapping
    /// 64 random bits onto `i + 1` places is below 2^-32.
    package func permutation(count: Int, _ a: UInt32 = 0, _ b: UInt32 = 0) -> [Int] {
        var order = Array(0..<count)
        for i in stride(from: count - 1, to: 0, by: -1) {
            let words = block(
                UInt32(truncatingIfNeeded: i), a, b, UInt32(truncatingIfNeeded: i >> 32))
            let draw = UInt64(words.x) << 32 | UInt64(words.y)
            let place = Int(draw.multipliedFullWidth(by: UInt64(i + 1)).high)
            order.swapAt(i, place)
        }
        return order
    }

    /// The bare bijection: ten rounds of Philox4x32.
    static func philox(counter: Block, key: SIMD2<UInt32>) -> Block {
        var c = counter
        var k0 = key.x
        var k1 = key.y
        for _ in 0..<10 {
            let p0 = UInt64(0xD251_1F53) &* UInt64(c.x)
            let p1 = UInt64(0xCD9E_8D57) &* UInt64(c.z)
            c = [
                UInt32(truncatingIfNeeded: p1 >> 32) ^ c.y ^ k0, UInt32(truncatingIfNeeded: p1),
                UInt32(truncatingIfNeeded: p0 >> 32) ^ c.w ^ k1, UInt32(truncatingIfNeeded: p0),
            ]
            k0 &+= 0x9E37_79B9
            k1 &+= 0xBB67_AE85
        }
        return c
    }
}

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
