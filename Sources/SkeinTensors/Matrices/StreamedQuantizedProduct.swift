import CSkeinKernels

/// Products in 8-bit integers with a matrix W [outputs, inputs] that stays as it is in its file: it is
/// converted, quantized and packed again for each product, with the bits of a `QuantizedWeight`.
package struct StreamedQuantizedProduct: Sendable {
    /// Writes rows `range` of W, contiguous [range.count, inputs], through the pointer.
    package typealias Rows = (Range<Int>, UnsafeMutablePointer<Float>) -> Void

    /// Rows of W that exist as floats at once.
    private static let blockRows = 128

    package let outputs: Int
    package let inputs: Int
    let level: skein_level?

    package init(outputs: Int, inputs: Int) {
        self.init(outputs: outputs, inputs: inputs, level: nil)
    }

    init(outputs: Int, inputs: Int, level: skein_level?) {
        precondition(outputs > 0 && inputs > 0)
        self.outputs = outputs
        self.inputs = inputs
        self.level = level
    }

    private var block: Int { min(Self.blockRows, outputs) }
    private var stride: Int { QuantizedWeight.codeStride(inputs) }
    /// The blocks of y = x W^T are packed one at a time; dx = dy W sums over all of them.
    private var packedBytes: Int {
        max(skein_int8_bytes(inputs, block), skein_int8_bytes(outputs, inputs))
    }
    private var scaleBytes: Int { (4 * outputs + 63) / 64 * 64 }
    private var codeBytes: Int { (block * stride + 63) / 64 * 64 }

    /// Bytes of scratch that either product needs, aligned to 64 bytes.
    package var scratchBytes: Int {
        packedBytes + scaleBytes + codeBytes + 4 * block * inputs
    }

    private struct Parts {
        let packed: UnsafeMutablePointer<UInt8>
        let scales: UnsafeMutablePointer<Float>
        let codes: UnsafeMutablePointer<Int8>
        let floats: UnsafeMutablePointer<Float>
    }

    private func parts(of scratch: UnsafeMutableRawPointer) -> Parts {
        precondition(Int(bitPattern: scratch) % 64 == 0)
        let scales = scratch + packedBytes
        let codes = scales + scaleBytes
        let floats = codes + codeBytes
        return Parts(
            packed: scratch.bindMemory(to: UInt8.self, capacity: packedBytes),
            scales: scales.bindMemory(to: Float.self, capacity: outputs),
            codes: codes.bindMemory(to: Int8.self, capacity: codeBytes),
            floats: floats.bindMemory(to: Float.self, capacity: block * inputs))
    }

    /// Calls `body` with each block of rows, whose codes and scales are in `parts`.
    private func forEachBlock(
        _ parts: Parts, _ level: skein_level, _ rows: Rows, _ body: (Range<Int>) -> Void
    ) {
        for first in Swift.stride(from: 0, to: outputs, by: block) {
            let range = first..<min(first + block, outputs)
            rows(range, parts.floats)
            skein_int8_codes(
                level, parts.floats, inputs, range.count, inputs, parts.codes, stride,
                parts.scales + first)
            body(range)
        }
    }

    /// y [T, outputs] = x [T, inputs] W^T, or y += it; `stride` floats from one row of y to the next.
    package func forward(
        _ x: QuantizedRows, into y: UnsafeMutablePointer<Float>, stride strideY: Int,
        accumulating: Bool, scratch: UnsafeMutableRawPointer, rows: Rows
    ) {
        precondition(x.columns == inputs && strideY >= outputs)
        let level = level ?? currentLevel()
        let parts = parts(of: scratch)
        forEachBlock(parts, level, rows) { range in
            skein_int8_pack_columns(parts.codes, stride, range.count, inputs, parts.packed)
            var product = skein_int8_product(
                x: x.kernel, p: parts.packed, panel: skein_int8_panel(inputs),
                scales: parts.scales + range.lowerBound, y: y + range.lowerBound,
                stride_y: strideY, rows: x.rows, k: inputs, n: range.count,
                accumulate: accumulating ? 1 : 0)
            skein_int8_multiply(level, &product)
        }
    }

    /// dx [T, inputs] = dy [T, outputs] W, or dx += it.
    ///
    /// `strideDY`: floats from one row of dy to the next. `quantized`: as `scratch` in
    /// `QuantizedWeight.backward`.
    package func backward(
        _ dy: UnsafePointer<Float>, strideDY: Int, tokens: Int,
        into dx: UnsafeMutablePointer<Float>, accumulating: Bool,
        quantized: UnsafeMutableRawPointer, scratch: UnsafeMutableRawPointer, rows: Rows
    ) {
        let level = level ?? currentLevel()
        let parts = parts(of: scratch)
        let panel = skein_int8_panel(outputs)
        forEachBlock(parts, level, rows) { range in
            skein_int8_pack_rows(
                parts.codes, stride, range.count, inputs, parts.packed + range.lowerBound * 64,
                panel)
        }
        let x = QuantizedRows(
            quantizing: dy, stride: strideDY, rows: tokens, columns: outputs,
            factors: parts.scales, in: quantized, level: level)
        var product = skein_int8_product(
            x: x.kernel, p: parts.packed, panel: panel, scales: nil, y: dx, stride_y: inputs,
            rows: tokens, k: outputs, n: inputs, accumulate: accumulating ? 1 : 0)
        skein_int8_multiply(level, &product)
    }
}
