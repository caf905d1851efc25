import SkeinTensors

/// The input of a product with a frozen weight, [T, columns].
enum Operand {
    /// Rows contiguous.
    case single(UnsafePointer<Float>)
    /// bf16.
    case rounded(RoundedRows)
}
