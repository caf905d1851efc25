import CSkeinKernels
import SkeinBasics

/// The forward half of a frozen matrix W [outputs, inputs] in 8-bit integers, packed for y = x W^T: every
/// 64 numbers of a row of W are turned together, and 128 have a scale. CSkeinKernels/include/int8_product.h
/// has the formula.
///
/// `@unchecked Sendable`: only `pack` writes it, before any product reads it, and threads that pack at
/// the same time write disjoint pieces.
package final class QuantizedPanels: @unchecked Sendable {
    /// Rows of W in a panel: pieces of a product begin at multiples of it.
    package static let panelRows = 64

    package let outputs: Int
    package let inputs: Int
    /// Replaces the process's level in tests.
    private let level: skein_level?
    private let codes: UnsafeMutablePointer<UInt8>
    /// [blocks, outputs padded], of rows of W.
    private let scales: FloatBuffer

    /// Memory that `pack` fills.
    ///
    /// - Throws: `PackedMatrixError` when memory cannot be allocated.
    package convenience init(outputs: Int, inputs: Int) throws {
        try self.init(outputs: outputs, inputs: inputs, level: nil)
    }

    init(outputs: Int, inputs: Int, level: skein_level?) throws {
        precondition(outputs > 0 && inputs > 0)
        self.outputs = outputs
        self.inputs = inputs
        self.level = level
        let bytes = skein_int8_bytes(inputs, outputs)
        guard let codes = skein_bf16_allocate(bytes) else {
            throw PackedMatrixError.noMemory(bytes: bytes)
        }
        self.codes = codes.bindMemory(to: UInt8.self, capacity: bytes)
        scales = FloatBuffer(count: Self.scaleCount(outputs, inputs))
    }

    deinit { skein_bf16_free(codes) }

    /// Outputs with room for whole panels.
    static func padded(_ outputs: Int) -> Int { QuantizationRoom.padded(outputs) }

    static func scaleCount(_ outputs: Int, _ inputs: Int) -> Int {
        skein_int8_blocks(inputs) * padded(outputs)
    }

    /// Bytes of codes and scales.
    package static func bytes(outputs: Int, inputs: Int) -> Int {
        skein_int8_bytes(inputs, outputs) + 4 * scaleCount(outputs, inputs)
    }

    /// Bytes of scratch that `pack` needs for `count` rows.
    package static func packingBytes(rows count: Int, inputs: Int) -> Int {
        QuantizationRoom.bytes(rows: count, columns: inputs)
    }

    /// Packs rows `first..<first + count` of W from w [count, inputs], contiguous floats.
    ///
    /// Pieces may come in any order and from several threads. `first` is a multiple of 64, and so is
    /// `count` except for the last piece of W. `scratch`: `packingBytes(rows:inputs:)`, aligned to 64.
    package func pack(
        _ w: UnsafePointer<Float>, first: Int, count: Int, scratch: UnsafeMutableRawPointer
    ) {
        precondition(first % Self.panelRows == 0)
        precondition(count % Self.panelRows == 0 || first + count == outputs)
        precondition(first >= 0 && count >= 0 && first + count <= outputs)
        QuantizationRoom(scratch, columns: inputs, level: level ?? currentLevel()).packForward(
            w, count: count, into: columns(from: first), scales: scales.base + first,
            step: Self.padded(outputs))
    }

    /// y = x W^T, or y += it, for rows `range` of W.
    ///
    /// Shapes and ranges:
    ///   - range: of W's rows; starts and (but at the end of W) ends at multiples of 64.
    ///   - x: [T, inputs].
    ///   - y: [T, range.count], `stride` floats from one row to the next.
    ///   - accumulating: whether y is added to.
    ///   - place: The calling thread's, if others may help.
    package func multiply(
        rows range: Range<Int>, _ x: QuantizedRows, into y: UnsafeMutablePointer<Float>,
        stride: Int, accumulating: Bool, place: WorkSharing.Place? = nil
    ) {
        precondition(x.columns == inputs && stride >= range.count && range.upperBound <= outputs)
        precondition(range.lowerBound % Self.panelRows == 0)
        precondition(range.upperBound % Self.panelRows == 0 || range.upperBound == outputs)
        let product = skein_int8_product(
            x: x.kernel, p: columns(from: range.lowerBound), panel: skein_int8_panel(inputs),
            scales: scales.base + range.lowerBound, step_scales: Self.padded(outputs),
            y: y, stride_y: stride, rows: x.rows, k: inputs, n: range.count,
            accumulate: accumulating ? 1 : 0)
        QuantizedWeight.multiply(product, level ?? currentLevel(), place)
    }

    /// Where the panel that starts at an output lies.
    private func columns(from output: Int) -> UnsafeMutablePointer<UInt8> {
        codes + output / Self.panelRows * skein_int8_panel(inputs)
    }
}
