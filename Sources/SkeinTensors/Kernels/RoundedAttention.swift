import CSkeinKernels

/// `Attention` over one sequence with the factors of all products rounded to bf16, sums in fp32.
///
/// q, k, v, dO, the exponentials, P and dS are rounded (to nearest, ties to even), each once, where
/// it enters a product. Scores, exponentials, log-sum-exp, dS and all results are computed in fp32.
/// Rounding changes a result by about 2^-9. Letters as in `Attention`; T x T is never stored:
/// forward has scores of 12 queries at a time, backward of 96 keys. Scratch grows with T, or with a
/// window up to some times its tokens.
///
/// Bits are a function of this sequence's q, k, v (and dO) and of the shape. They are the same at
/// all levels of the processor that have fused multiply-add, as far as `PackedMatrix` products are.
package struct RoundedAttention: Sendable {
    package let shape: AttentionShape
    /// Replaces the process's level in tests.
    let level: skein_level?

    package init(_ shape: AttentionShape) {
        self.init(shape, level: nil)
    }

    package init(heads: Int, keyValueHeads: Int, headDimension: Int) {
        self.init(
            AttentionShape(
                heads: heads, keyValueHeads: keyValueHeads, headDimension: headDimension))
    }

    init(_ shape: AttentionShape, level: skein_level?) {
        self.shape = shape
        self.level = level
    }

    /// Floats of scratch that forward and backward need for sequences of up to `tokens` tokens.
    package func scratchCount(tokens: Int) -> Int {
        var shape = kernelShape(tokens)
        return max(
            skein_attention_forward_scratch(&shape), skein_attention_backward_scratch(&shape))
    }

    /// out = softmax(capped(scale q k^T)) v, each token over itself and those before it in the window.
    ///
    /// Shapes and ranges:
    ///   - q: [T, H * N], rotated.
    ///   - k: [T, G * N], rotated.
    ///   - v: [T, G * N].
    ///   - out: [T, H * N].
    ///   - logSumExp: [H, T], receives each row's log of the sum of exponentials; nil if not needed.
    ///   - scratch: `scratchCount(tokens: T)` floats, aligned to 64 bytes.
    package func forward(
        q: UnsafePointer<Float>, k: UnsafePointer<Float>, v: UnsafePointer<Float>,
        tokens: Int, out: UnsafeMutablePointer<Float>, logSumExp: UnsafeMutablePointer<Float>?,
        scratch: UnsafeMutablePointer<Float>
    ) {
        precondition(Int(bitPattern: scratch) % 64 == 0)
        var shape = kernelShape(tokens)
        skein_attention_forward(
            level ?? currentLevel(), &shape, q, k, v, out, logSumExp, scratch)
    }

    /// Gradients of q, k and v of one sequence; overwrites dq, dk and dv.
    ///
    /// Shapes and ranges:
    ///   - out: [T, H * N], the forward result.
    ///   - dOut: [T, H * N].
    ///   - logSumExp: [H, T], of the forward pass.
    ///   - dq: [T, H * N].
    ///   - dk: [T, G * N].
    ///   - dv: [T, G * N].
    ///   - scratch: `scratchCount(tokens: T)` floats, aligned to 64 bytes.
    package func backward(
        q: UnsafePointer<Float>, k: UnsafePointer<Float>, v: UnsafePointer<Float>,
        out: UnsafePointer<Float>, dOut: UnsafePointer<Float>,
        logSumExp: UnsafePointer<Float>, tokens: Int,
        dq: UnsafeMutablePointer<Float>, dk: UnsafeMutablePointer<Float>,
        dv: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>
    ) {
        precondition(Int(bitPattern: scratch) % 64 == 0)
        var shape = kernelShape(tokens)
        var gradients = skein_attention_gradients(
            q: q, k: k, v: v, out: out, d_out: dOut, log_sum_exp: logSumExp, dq: dq, dk: dk,
            dv: dv)
        skein_attention_backward(level ?? currentLevel(), &shape, &gradients, scratch)
    }

    private func kernelShape(_ tokens: Int) -> skein_attention_shape {
        skein_attention_shape(
            heads: shape.heads, key_value_heads: shape.keyValueHeads,
            dimension: shape.headDimension, tokens: tokens, window: shape.window ?? 0,
            scale: shape.scale, cap: shape.softCap ?? 0)
    }
}
