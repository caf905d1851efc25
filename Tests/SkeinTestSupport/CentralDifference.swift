import SkeinBasics

/// Checks a hand-written backward pass against the forward pass alone.
package enum CentralDifference {
    /// (f(x + h e_i) - f(x - h e_i)) / 2h for each i in `indices`.
    ///
    /// With fp32 kernels inside `f`, h of 1e-2 to 1e-3 balances rounding (about 1e-7 / h) against the
    /// h^2 term.
    package static func gradient(
        at x: [Float], indices: [Int]? = nil, step h: Float = 5e-3,
        of f: ([Float]) -> Double
    ) -> [Double] {
        var point = x
        return (indices ?? Array(x.indices)).map { i in
            let old = point[i]
            let up = old + h
            let down = old - h
            point[i] = up
            let above = f(point)
            point[i] = down
            let below = f(point)
            point[i] = old
            return (above - below) / Double(up - down)
        }
    }

    /// |a - b| / |b|, Euclidean.
    package static func relativeError(_ a: [Double], _ b: [Double]) -> Double {
        var difference = 0.0
        var norm = 0.0
        for (x, y) in zip(a, b) {
            difference += (x - y) * (x - y)
            norm += y * y
        }
        return (difference / max(norm, 1e-30)).squareRoot()
    }

    /// `count` numbers around zero with the given spread, a function of `seed` and `stream`.
    package static func numbers(
        _ count: Int, seed: UInt64, stream: UInt32, spread: Float = 1
    ) -> [Float] {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        return (0..<count).map { i in
            let words = random.block(UInt32(i), stream)
            // The sum of four uniform numbers: bell-shaped enough.
            let sum = (0..<4).reduce(Float(0)) { $0 + AddressedRandom.unitFloat(words[$1]) }
            return (sum - 2) * spread * 1.7
        }
    }
}
