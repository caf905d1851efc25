import CSkeinKernels

/// The gated activation of Llama's feed-forward part (Shazeer 2020): a = silu(g) * u.
///
/// Each exists for floats, and for bf16 with rows `RoundedRows.stride(columns:)` apart; arithmetic
/// is always fp32.
package enum SwiGLU {
    /// Shapes and ranges:
    ///   - gate: [count].
    ///   - up: [count].
    ///   - a: [count], receives silu(gate) * up.
    package static func forward(
        gate: UnsafePointer<Float>, up: UnsafePointer<Float>, count: Int,
        into a: UnsafeMutablePointer<Float>
    ) {
        skein_swiglu_forward(skein_level(), gate, up, count, a)
    }

    /// The same from bf16 to bf16.
    ///
    /// Shapes and ranges:
    ///   - gate: [rows, columns].
    ///   - up: [rows, columns].
    ///   - a: [rows, columns], receives silu(gate) * up.
    package static func forward(
        gate: UnsafePointer<UInt16>, up: UnsafePointer<UInt16>, rows: Int, columns: Int,
        into a: UnsafeMutablePointer<UInt16>
    ) {
        let stride = RoundedRows.stride(columns: columns)
        for row in 0..<rows {
            let at = row * stride
            skein_swiglu_forward_bf16(skein_level(), gate + at, up + at, columns, a + at)
        }
    }

    /// dg = da * u * s * (1 + g * (1 - s)), du = da * g * s, s = 1 / (1 + e^-g).
    ///
    /// Shapes and ranges:
    ///   - da: [count], receives dg in place.
    ///   - du: [count], receives du.
    package static func backward(
        da: UnsafeMutablePointer<Float>, gate: UnsafePointer<Float>, up: UnsafePointer<Float>,
        count: Int, du: UnsafeMutablePointer<Float>
    ) {
        skein_swiglu_backward(skein_level(), da, gate, up, count, da, du)
    }

    /// The same from bf16 to bf16.
    ///
    /// Shapes and ranges:
    ///   - da: [rows, columns], not changed.
    ///   - dg: [rows, columns], may be the memory of gate.
    ///   - du: [rows, columns], may be the memory of up.
    package static func backward(
        da: UnsafePointer<UInt16>, gate: UnsafePointer<UInt16>, up: UnsafePointer<UInt16>,
        rows: Int, columns: Int, dg: UnsafeMutablePointer<UInt16>, du: UnsafeMutablePointer<UInt16>
    ) {
        let stride = RoundedRows.stride(columns: columns)
        for row in 0..<rows {
            let at = row * stride
            skein_swiglu_backward_bf16(
                skein_level(), da + at, gate + at, up + at, columns, dg + at, du + at)
        }
    }
}
