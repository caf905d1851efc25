import CSkeinKernels

/// The gated activation of a feed-forward part (Shazeer 2020): a = act(g) * u.
///
/// Each exists for floats, and for bf16 with rows `RoundedRows.stride(columns:)` apart; arithmetic
/// is always fp32.
package enum GatedActivation: Sendable, CaseIterable {
    /// act(g) = silu(g) = g / (1 + e^-g): Llama and most others.
    case swiGLU
    /// act(g) = 1/2 g (1 + tanh(sqrt(2 / pi) (g + 0.044715 g^3))): Gemma ("gelu_pytorch_tanh").
    case geGLU

    /// Shapes and ranges:
    ///   - gate: [count].
    ///   - up: [count].
    ///   - a: [count], receives act(gate) * up; may be gate.
    package func forward(
        gate: UnsafePointer<Float>, up: UnsafePointer<Float>, count: Int,
        into a: UnsafeMutablePointer<Float>
    ) {
        let kernel = self == .swiGLU ? skein_swiglu_forward : skein_geglu_forward
        kernel(skein_level(), gate, up, count, a)
    }

    /// The same from bf16 to bf16.
    ///
    /// Shapes and ranges:
    ///   - gate: [rows, columns].
    ///   - up: [rows, columns].
    ///   - a: [rows, columns], receives act(gate) * up.
    package func forward(
        gate: UnsafePointer<UInt16>, up: UnsafePointer<UInt16>, rows: Int, columns: Int,
        into a: UnsafeMutablePointer<UInt16>
    ) {
        let kernel = self == .swiGLU ? skein_swiglu_forward_bf16 : skein_geglu_forward_bf16
        let stride = RoundedRows.stride(columns: columns)
        for row in 0..<rows {
            let at = row * stride
            kernel(skein_level(), gate + at, up + at, columns, a + at)
        }
    }

    /// dg = da * u * act'(g), du = da * act(g).
    ///
    /// Shapes and ranges:
    ///   - da: [count], receives dg in place.
    ///   - du: [count], receives du.
    package func backward(
        da: UnsafeMutablePointer<Float>, gate: UnsafePointer<Float>, up: UnsafePointer<Float>,
        count: Int, du: UnsafeMutablePointer<Float>
    ) {
        let kernel = self == .swiGLU ? skein_swiglu_backward : skein_geglu_backward
        kernel(skein_level(), da, gate, up, count, da, du)
    }

    /// The same from bf16 to bf16.
    ///
    /// Shapes and ranges:
    ///   - da: [rows, columns], not changed.
    ///   - dg: [rows, columns], may be the memory of gate.
    ///   - du: [rows, columns], may be the memory of up.
    package func backward(
        da: UnsafePointer<UInt16>, gate: UnsafePointer<UInt16>, up: UnsafePointer<UInt16>,
        rows: Int, columns: Int, dg: UnsafeMutablePointer<UInt16>, du: UnsafeMutablePointer<UInt16>
    ) {
        let kernel = self == .swiGLU ? skein_swiglu_backward_bf16 : skein_geglu_backward_bf16
        let stride = RoundedRows.stride(columns: columns)
        for row in 0..<rows {
            let at = row * stride
            kernel(skein_level(), da + at, gate + at, up + at, columns, dg + at, du + at)
        }
    }
}
