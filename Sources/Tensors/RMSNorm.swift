/// Root mean square normalization (Zhang and Sennrich 2019).
///
/// Letters: `T` tokens, `D` width.
public enum RMSNorm {
    /// y = x * r * w, r = 1 / sqrt(mean(x^2) + epsilon), per token.
    ///
    /// Shapes and ranges:
    ///   - x: [T, D].
    ///   - weight: [D], frozen.
    ///   - y: [T, D]; may not overlap x.
    ///   - inverse: [T], receives r for the backward pass.
    public static func forward(
        _ x: UnsafePointer<Float>, weight: UnsafePointer<Float>, epsilon: Float,
        tokens: Int, width: Int,
        into y: UnsafeMutablePointer<Float>, inverse: UnsafeMutablePointer<Float>
    ) {
        for t in 0..<tokens {
            let row = x + t * width
            let r = 1 / (dot(row, row, width) / Float(width) + epsilon).squareRoot()
            inverse[t] = r
            apply(row, weight: weight, inverse: r, width: width, into: y + t * width)
        }
    }

    /// y = x * r * w for tokens whose r is known: cheaper than keeping y until the backward pass.
    public static func again(
        _ x: UnsafePointer<Float>, weight: UnsafePointer<Float>, inverse: UnsafePointer<Float>,
        tokens: Int, width: Int, into y: UnsafeMutablePointer<Float>
    ) {
        for t in 0..<tokens {
            apply(
                x + t * width, weight: weight, inverse: inverse[t], width: width,
                into: y + t * width)
        }
    }

    /// Adds the gradient of x: dx += r * (w dy) - x * r^3 / D * sum(w dy x).
    ///
    /// The weight is frozen and gets no gradient.
    public static func backward(
        _ dy: UnsafePointer<Float>, x: UnsafePointer<Float>, weight: UnsafePointer<Float>,
        inverse: UnsafePointer<Float>, tokens: Int, width: Int,
        addingTo dx: UnsafeMutablePointer<Float>
    ) {
        for t in 0..<tokens {
            let g = dy + t * width
            let row = x + t * width
            let out = dx + t * width
            let r = inverse[t]
            var lanes = Float8.zero
            var i = 0
            while i + 8 <= width {
                lanes += g.load8(i) * weight.load8(i) * row.load8(i)
                i += 8
            }
            var sum = lanes.sum8
            while i < width {
                sum += g[i] * weight[i] * row[i]
                i += 1
            }
            let pull = sum * r * r * r / Float(width)
            i = 0
            while i + 8 <= width {
                let push = g.load8(i) * weight.load8(i) * r
                out.store8(i, out.load8(i) + (push - row.load8(i) * pull))
                i += 8
            }
            while i < width {
                out[i] += g[i] * weight[i] * r - row[i] * pull
                i += 1
            }
        }
    }

    @inline(__always)
    private static func apply(
        _ row: UnsafePointer<Float>, weight: UnsafePointer<Float>, inverse r: Float, width: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        var i = 0
        while i + 8 <= width {
            out.store8(i, row.load8(i) * r * weight.load8(i))
            i += 8
        }
        while i < width {
            out[i] = row[i] * r * weight[i]
            i += 1
        }
    }
}

/// The dot product of two vectors, in a fixed lane order.
@inline(__always)
func dot(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Float {
    var low = Float8.zero
    var high = Float8.zero
    var i = 0
    while i + 16 <= count {
        low += a.load8(i) * b.load8(i)
        high += a.load8(i + 8) * b.load8(i + 8)
        i += 16
    }
    var sum = (low + high).sum8
    while i < count {
        sum += a[i] * b[i]
        i += 1
    }
    return sum
}
