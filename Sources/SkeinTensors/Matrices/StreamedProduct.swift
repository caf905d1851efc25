import CSkeinKernels

/// Products with a matrix W [outputs, inputs] that stays quantized in memory: blocks of its rows
/// are converted, packed into scratch that fits in the second-level cache, used and discarded.
///
/// The bits equal those of a resident `PackedMatrix`, whatever the block size. The cost: W is
/// converted and packed again in every product, so it pays when x has many rows.
package struct StreamedProduct: Sendable {
    /// Writes rows `range` of W, contiguous [range.count, inputs], through the pointer.
    package typealias Rows = (Range<Int>, UnsafeMutablePointer<Float>) -> Void

    package let outputs: Int
    package let inputs: Int
    /// Rows of W at a time; a multiple of 32.
    package let blockRows: Int
    let level: skein_level?

    package init(outputs: Int, inputs: Int, blockRows: Int = 128) {
        self.init(outputs: outputs, inputs: inputs, blockRows: blockRows, level: nil)
    }

    init(outputs: Int, inputs: Int, blockRows: Int, level: skein_level?) {
        precondition(outputs > 0 && inputs > 0 && blockRows > 0 && blockRows % 32 == 0)
        self.outputs = outputs
        self.inputs = inputs
        self.blockRows = min(blockRows, (outputs + 31) / 32 * 32)
        self.level = level
    }

    /// Bytes of scratch that either product needs, aligned to 64 bytes.
    package var scratchBytes: Int {
        let packed = max(
            skein_bf16_bytes(inputs, blockRows), skein_bf16_bytes(blockRows, inputs))
        return packed + blockRows * inputs * MemoryLayout<Float>.stride
    }

    /// y [T, outputs] = x [T, inputs] W^T, or y += it; `stride` floats from one row of y to the next.
    ///
    /// `rounded`: receives the sums as bf16, an even number of outputs, rows
    /// `RoundedRows.stride(columns:)` apart; y is scratch then.
    package func forward(
        _ x: RoundedRows, into y: UnsafeMutablePointer<Float>, stride: Int,
        accumulating: Bool = false, rounded: UnsafeMutablePointer<UInt16>? = nil,
        scratch: UnsafeMutableRawPointer, rows: Rows
    ) {
        precondition(x.columns == inputs && stride >= outputs)
        let level = level ?? currentLevel()
        let (packed, floats) = parts(of: scratch)
        for first in Swift.stride(from: 0, to: outputs, by: blockRows) {
            let range = first..<min(first + blockRows, outputs)
            rows(range, floats)
            skein_bf16_pack_columns(level, floats, inputs, range.count, inputs, packed)
            var product = skein_bf16_product(
                x: x.base, stride_x: x.stride, p: packed, panel: skein_bf16_panel(inputs),
                y: y + first, stride_y: stride, rows: x.rows, k: inputs, n: range.count,
                accumulate: accumulating ? 1 : 0, rounded: rounded.map { $0 + first },
                stride_rounded: RoundedRows.stride(columns: outputs))
            skein_bf16_multiply(level, &product)
        }
    }

    /// dx [T, inputs] = dy [T, outputs] W, or dx += it; `stride` floats from one row of dx to the next.
    package func backward(
        _ dy: RoundedRows, into dx: UnsafeMutablePointer<Float>, stride: Int,
        accumulating: Bool = false, scratch: UnsafeMutableRawPointer, rows: Rows
    ) {
        precondition(dy.columns == outputs && stride >= inputs)
        let level = level ?? currentLevel()
        let (packed, floats) = parts(of: scratch)
        for first in Swift.stride(from: 0, to: outputs, by: blockRows) {
            let range = first..<min(first + blockRows, outputs)
            rows(range, floats)
            let panel = skein_bf16_panel(range.count)
            skein_bf16_pack_rows(level, floats, inputs, range.count, inputs, packed, panel)
            let part = dy[columns: range]
            var product = skein_bf16_product(
                x: part.base, stride_x: part.stride, p: packed, panel: panel, y: dx,
                stride_y: stride, rows: part.rows, k: range.count, n: inputs,
                accumulate: accumulating || first > 0 ? 1 : 0, rounded: nil, stride_rounded: 0)
            skein_bf16_multiply(level, &product)
        }
    }

    private func parts(
        of scratch: UnsafeMutableRawPointer
    ) -> (UnsafeMutablePointer<UInt16>, UnsafeMutablePointer<Float>) {
        precondition(Int(bitPattern: scratch) % 64 == 0)
        let floats = blockRows * inputs
        let packed = scratchBytes - floats * MemoryLayout<Float>.stride
        return (
            scratch.bindMemory(to: UInt16.self, capacity: packed / 2),
            (scratch + packed).bindMemory(to: Float.self, capacity: floats)
        )
    }
}
