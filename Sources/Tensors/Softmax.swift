/// Row kernels of softmax, shared by attention and cross-entropy.
enum Softmax {
    /// The largest of `count` >= 1 numbers.
    @inline(__always)
    static func maximum(_ x: UnsafePointer<Float>, _ count: Int) -> Float {
        var lanes = Float8(repeating: -.infinity)
        var i = 0
        while i + 8 <= count {
            lanes = max8(lanes, x.load8(i))
            i += 8
        }
        var largest = lanes.max()
        while i < count {
            largest = max(largest, x[i])
            i += 1
        }
        return largest
    }

    /// x = e^(x - shift) in place; returns the sum.
    @inline(__always)
    static func exponentiate(
        _ x: UnsafeMutablePointer<Float>, _ count: Int, shift: Float
    ) -> Float {
        var lanes = Float8.zero
        var i = 0
        while i + 8 <= count {
            let e = exp8(x.load8(i) - shift)
            x.store8(i, e)
            lanes += e
            i += 8
        }
        var sum = lanes.sum8
        while i < count {
            x[i] = exp1(x[i] - shift)
            sum += x[i]
            i += 1
        }
        return sum
    }

    /// x *= factor in place.
    @inline(__always)
    static func scale(_ x: UnsafeMutablePointer<Float>, _ count: Int, by factor: Float) {
        var i = 0
        while i + 8 <= count {
            x.store8(i, x.load8(i) * factor)
            i += 8
        }
        while i < count {
            x[i] *= factor
            i += 1
        }
    }

    /// x = 0.
    @inline(__always)
    static func clear(_ x: UnsafeMutablePointer<Float>, _ count: Int) {
        if count > 0 { x.update(repeating: 0, count: count) }
    }
}
