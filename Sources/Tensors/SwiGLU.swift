/// The gated activation of Llama's feed-forward part (Shazeer 2020): a = silu(g) * u.
public enum SwiGLU {
    /// Shapes and ranges:
    ///   - gate: [count].
    ///   - up: [count].
    ///   - a: [count], receives silu(gate) * up.
    public static func forward(
        gate: UnsafePointer<Float>, up: UnsafePointer<Float>, count: Int,
        into a: UnsafeMutablePointer<Float>
    ) {
        var i = 0
        while i + 8 <= count {
            let g = gate.load8(i)
            a.store8(i, g / (1 + exp8(-g)) * up.load8(i))
            i += 8
        }
        while i < count {
            a[i] = gate[i] / (1 + exp1(-gate[i])) * up[i]
            i += 1
        }
    }

    /// dg = da * u * s * (1 + g * (1 - s)), du = da * g * s, s = 1 / (1 + e^-g).
    ///
    /// Shapes and ranges:
    ///   - da: [count], receives dg in place.
    ///   - du: [count], receives du.
    public static func backward(
        da: UnsafeMutablePointer<Float>, gate: UnsafePointer<Float>, up: UnsafePointer<Float>,
        count: Int, du: UnsafeMutablePointer<Float>
    ) {
        var i = 0
        while i + 8 <= count {
            let g = gate.load8(i)
            let d = da.load8(i)
            let s = 1 / (1 + exp8(-g))
            du.store8(i, d * g * s)
            da.store8(i, d * up.load8(i) * s * (1 + g * (1 - s)))
            i += 8
        }
        while i < count {
            let g = gate[i]
            let d = da[i]
            let s = 1 / (1 + exp1(-g))
            du[i] = d * g * s
            da[i] = d * up[i] * s * (1 + g * (1 - s))
            i += 1
        }
    }
}
