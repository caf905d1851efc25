/// In which numbers the products with frozen weights are computed (`--compute`).
///
/// Everything else (LoRA's matrices, norms, softmax, activations, loss, optimizer) is fp32 with both.
package enum ComputeType: String, Sendable, CaseIterable {
    /// Weights and inputs as Float.
    case fp32
    /// Weights and inputs rounded to bfloat16, sums as Float.
    case bf16
}
