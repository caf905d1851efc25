extension ElementType {
    /// Writes `blocks` x `blockElements` floats from blocks in memory; `TensorView` does it for
    /// those of a file.
    ///
    /// - Parameters:
    ///   - source: `blocks` x `blockBytes` readable bytes, of any alignment.
    ///   - blocks: The number of blocks; 0 is fine.
    ///   - out: Room for all floats.
    package func dequantize(
        from source: UnsafeRawPointer, blocks: Int, into out: UnsafeMutablePointer<Float>
    ) {
        QuantizationBlocks.dequantize(self, from: source, blocks: blocks, into: out)
    }
}
