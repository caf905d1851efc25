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
    /// The blocks of y = x W^T are packed one at a time; dx = dy W sums over all of them.
    private var packedBytes: Int {
        max(skein_int8_bytes(inputs, block), skein_int8_bytes(outputs, inputs))
    }
    private var scaleBytes: Int {
        let count = max(
            QuantizationRoom.padded(outputs), QuantizedPanels.scaleCount(block, inputs))
        return (4 * count + 63) / 64 * 64
    }
    private var roomBytes: Int { QuantizationRoom.bytes(rows: block, columns: inputs) }

    /// Bytes of scratch that either product needs, aligned to 64 bytes.
    package var scratchBytes: Int {
        packedBytes + scaleBytes + roomBytes + 4 * QuantizationRoom.padded(block) * inputs
    }

    private struct Parts {
        let packed: UnsafeMutablePointer<UInt8>
        let scales: UnsafeMutablePointer<Float>
        let room: QuantizationRoom
        let floats: UnsafeMutablePointer<Float>
    }

    private func parts(of scratch: UnsafeMutableRawPointer, _ level: skein_level) -> Parts {
        let scales = scratch + packedBytes
        let room = scales + scaleBytes
        let floats = room + roomBytes
        return Parts(
            packed: scratch.bindMemory(to: UInt8.self, capacity: packedBytes),
            scales: scales.bindMemory(to: Float.self, capacity: scaleBytes / 4),
            room: QuantizationRoom(room, columns: inputs, level: level),
            floats: floats.bindMemory(
                to: Float.self, capacity: QuantizationRoom.padded(block) * inputs))
    }

    private var blocks: [Range<Int>] {
        stride(from: 0, to: outputs, by: block).map { $0..<min($0 + block, outputs) }
    }

    /// y [T, outputs] = x [T, inputs] W^T, or y += it; `stride` floats from one row of y to the next.
    package func forward(
        _ x: QuantizedRows, into y: UnsafeMutablePointer<Float>, stride strideY: Int,
        accumulating: Bool, scratch: UnsafeMutableRawPointer, rows: Rows
    ) {
        precondition(x.columns == inputs && strideY >= outputs)
        let level = level ?? currentLevel()
        let parts = parts(of: scratch, level)
        let step = QuantizedPanels.padded(block)
        for range in blocks {
            rows(range, parts.floats)
            parts.room.packForward(
                parts.floats, count: range.count, into: parts.packed, scales: parts.scales,
                step: step)
            var product = skein_int8_product(
                x: x.kernel, p: parts.packed, panel: skein_int8_panel(inputs),
                scales: parts.scales, step_scales: step, y: y + range.lowerBound,
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
        let parts = parts(of: scratch, level)
        let panel = skein_int8_panel(outputs)
        for range in blocks {
            rows(range, parts.floats)
            parts.room.packBackward(
                parts.floats, count: range.count, into: parts.packed + range.lowerBound * 64,
                panel: panel, scales: parts.scales + range.lowerBound)
        }
        let x = QuantizedRows(
            quantizing: dy, stride: strideDY, rows: tokens, columns: outputs,
            factors: parts.scales, in: quantized, level: level)
        var product = skein_int8_product(
            x: x.kernel, p: parts.packed, panel: panel, scales: nil, step_scales: 0, y: dx,
            stride_y: inputs, rows: tokens, k: outputs, n: inputs,
            accumulate: accumulating ? 1 : 0)
        skein_int8_multiply(level, &product)
    }
}
