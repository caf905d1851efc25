/// Lengths of rows of W + s B A, which DoRA divides by (Liu et al. 2024, equation 5).
///
/// Row i has the squared length ||w||^2 + 2 s b (A w) + s^2 b (A A^T) b, w and b being rows of W and B,
/// so that W + s B A is never made: A w of all rows is one thin product. Sums are in Double and in one
/// order. Letters: `R` rank.
package enum RowLength {
    /// ||x||^2: eight sums by i mod 8 that are then added in pairs.
    package static func squared(_ x: UnsafePointer<Float>, count: Int) -> Double {
        var sums = SIMD8<Double>(repeating: 0)
        let whole = count & ~7
        for start in stride(from: 0, to: whole, by: 8) {
            var lane = SIMD8<Double>()
            for i in 0..<8 { lane[i] = Double(x[start + i]) }
            sums += lane * lane
        }
        for i in whole..<count {
            let value = Double(x[i])
            sums[i - whole] += value * value
        }
        let quads = sums.lowHalf + sums.highHalf
        let pairs = quads.lowHalf + quads.highHalf
        return pairs.x + pairs.y
    }

    /// The length of a row of W + s B A; that of w, to the last bit, if b is zero.
    ///
    /// Shapes and ranges:
    ///   - base: ||w||.
    ///   - b: [R], a row of B.
    ///   - product: A w, [R], `stride` floats from one number to the next.
    ///   - gram: b (A A^T), [R].
    package static func merged(
        base: Float, b: UnsafePointer<Float>, product: UnsafePointer<Float>, stride: Int,
        gram: UnsafePointer<Float>, rank: Int, scale: Float
    ) -> Float {
        var cross = 0.0
        var square = 0.0
        for k in 0..<rank {
            cross += Double(b[k]) * Double(product[k * stride])
            square += Double(b[k]) * Double(gram[k])
        }
        let s = Double(scale)
        let total = Double(base) * Double(base) + 2 * s * cross + s * s * square
        return Float(max(0, total).squareRoot())
    }

    /// What a row of W x + s B A x is multiplied by; 0 for a row of zeros, which has no direction.
    package static func gain(magnitude: Float, length: Float) -> Float {
        length > 0 ? magnitude / length : 0
    }

    /// B (A A^T), [out, R].
    ///
    /// Shapes and ranges:
    ///   - a: [R, in].
    ///   - b: [out, R].
    ///   - products: [out, R], overwritten.
    package static func gram(
        a: UnsafePointer<Float>, b: UnsafePointer<Float>, rank: Int, inputs: Int, outputs: Int,
        into products: UnsafeMutablePointer<Float>
    ) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: rank * rank) { memory in
            guard let gram = memory.baseAddress else { return }
            LowRank.reduce(a, tokens: rank, columns: inputs, by: a, rank: rank, into: gram)
            LowRank.reduce(b, tokens: outputs, columns: rank, by: gram, rank: rank, into: products)
        }
    }
}
