import SkeinBasics

/// SplitMix64, for tests.
package struct TestRandom: RandomNumberGenerator {
    package var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension TestRandom {
    /// A character, mostly near the borders of UTF-8's lengths, of surrogates and of JSON's escapes.
    package mutating func scalar() -> UInt32 {
        let borders: [UInt32] = [
            0x0, 0x08, 0x20, 0x22, 0x2F, 0x5C, 0x7F, 0x7FF, 0xD7FF, 0xE000, 0xFFFF, 0x1_03FF,
            0x1_F600, 0x10_FFFF,
        ]
        while true {
            var value = UInt32.random(in: 0...0x10_FFFF, using: &self)
            if Int.random(in: 0..<4, using: &self) > 0 {
                let border = borders[Int.random(in: 0..<borders.count, using: &self)]
                value = UInt32(
                    clamping: Int(border) + Int.random(in: -3...3, using: &self))
            }
            if Unicode.Scalar(value) != nil { return value }
        }
    }

    /// A set of up to five ranges of characters.
    package mutating func scalarSet() -> ScalarSet {
        let count = Int.random(in: 0...5, using: &self)
        return ScalarSet(
            (0..<count).map { _ in
                let a = scalar()
                let b = Bool.random(using: &self) ? scalar() : min(a + 3, 0x10_FFFF)
                return min(a, b)...max(a, b)
            })
    }
}
