/// The number format of the products with frozen weights (`--compute`).
///
/// Everything else (LoRA's matrices, norms, softmax, activations, loss, optimizer) is always fp32, but
/// that with bf16 attention and activations are rounded, too.
package enum ComputeType: String, Sendable, CaseIterable {
    /// Weights and inputs as Float.
    case fp32
    /// Weights and inputs rounded to bfloat16, sums as Float.
    case bf16
    /// Weights and inputs quantized to 8-bit integers with scales, sums exact; the same bits on every
    /// processor.
    case int8
}
