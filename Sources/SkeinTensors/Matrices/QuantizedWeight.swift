import CSkeinKernels
import SkeinBasics

/// A frozen matrix W [outputs, inputs] in 8-bit integers, packed for both directions of a pass:
/// y = x W^T and dx = dy W.
///
/// Sums of integers are exact, so an element's bits are a function of its row of x, of W and of what y
/// held, on every processor: they do not depend on the other rows, on instructions, or on how a range
/// of columns was cut.
///
/// Forward, every 64 numbers of a row of W are turned together, and 128 have a scale; backward, 64 rows
/// are turned together, and each has one scale. The gradient takes the quantization of x for the identity
/// (straight-through). CSkeinKernels/include/int8_product.h has the formulas and says why they differ.
///
/// `@unchecked Sendable`: only `pack` writes it, before any product reads it, and threads that pack at
/// the same time write disjoint pieces.
package final class QuantizedWeight: @unchecked Sendable {
    package let outputs: Int
    package let inputs: Int
    /// Replaces the process's level in tests.
    private let level: skein_level?
    private let forward: QuantizedPanels
    private let backward: UnsafeMutablePointer<UInt8>
    /// [outputs padded], of turned rows.
    private let backwardScales: FloatBuffer

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
        forward = try QuantizedPanels(outputs: outputs, inputs: inputs, level: level)
        let bytes = skein_int8_bytes(outputs, inputs)
        guard let backward = skein_bf16_allocate(bytes) else {
            throw PackedMatrixError.noMemory(bytes: bytes)
        }
        self.backward = backward.bindMemory(to: UInt8.self, capacity: bytes)
        backwardScales = FloatBuffer(count: QuantizationRoom.padded(outputs))
    }

    deinit { skein_bf16_free(backward) }

    /// Bytes of both directions and the scales.
    package static func bytes(outputs: Int, inputs: Int) -> Int {
        QuantizedPanels.bytes(outputs: outputs, inputs: inputs)
            + skein_int8_bytes(outputs, inputs) + 4 * QuantizationRoom.padded(outputs)
    }

    /// Bytes of scratch that `pack` needs for `count` rows.
    package static func packingBytes(rows count: Int, inputs: Int) -> Int {
        QuantizedPanels.packingBytes(rows: count, inputs: inputs)
    }

    /// Packs rows `first..<first + count` of W from w [count, inputs], contiguous floats with room for
    /// a multiple of 64 rows, which is overwritten.
    ///
    /// Pieces may come in any order and from several threads. `first` is a multiple of 64, and so is
    /// `count` except for the last piece of W. `scratch`: `packingBytes(rows:inputs:)`, aligned to 64.
    package func pack(
        _ w: UnsafeMutablePointer<Float>, first: Int, count: Int, scratch: UnsafeMutableRawPointer
    ) {
        forward.pack(w, first: first, count: count, scratch: scratch)
        QuantizationRoom(scratch, columns: inputs, level: level ?? currentLevel()).packBackward(
            w, count: count, into: backward + first * 64, panel: skein_int8_panel(outputs),
            scales: backwardScales.base + first)
    }

    /// y = x W^T, or y += it, for rows `range` of W: `QuantizedPanels.multiply`.
    package func forward(
        rows range: Range<Int>, _ x: QuantizedRows, into y: UnsafeMutablePointer<Float>,
        stride: Int, accumulating: Bool, place: WorkSharing.Place? = nil
    ) {
        forward.multiply(
            rows: range, x, into: y, stride: stride, accumulating: accumulating, place: place)
    }

    /// dx = dy W, or dx += it, for rows `range` of W.
    ///
    /// Shapes and ranges:
    ///   - range: of W's rows; starts and (but at the end of W) ends at multiples of 64.
    ///   - dy: [T, range.count], `strideDY` floats from one row to the next.
    ///   - dx: [T, inputs].
    ///   - accumulating: whether dx is added to.
    ///   - scratch: `QuantizedRows.bytes(rows: tokens, columns: range.count)`.
    ///   - place: The calling thread's, if others may help.
    package func backward(
        rows range: Range<Int>, _ dy: UnsafePointer<Float>, strideDY: Int, tokens: Int,
        into dx: UnsafeMutablePointer<Float>, accumulating: Bool,
        scratch: UnsafeMutableRawPointer, place: WorkSharing.Place? = nil
    ) {
        precondition(range.lowerBound % 64 == 0 && range.upperBound <= outputs)
        // 64 rows were turned together.
        precondition(range.upperBound % 64 == 0 || range.upperBound == outputs)
        let level = level ?? currentLevel()
        let rows = QuantizedRows(
            quantizing: dy, stride: strideDY, rows: tokens, columns: range.count,
            factors: backwardScales.base + range.lowerBound, in: scratch, level: level)
        let product = skein_int8_product(
            x: rows.kernel, p: backward + range.lowerBound * 64, panel: skein_int8_panel(outputs),
            scales: nil, step_scales: 0, y: dx, stride_y: inputs, rows: tokens,
            k: range.count, n: inputs, accumulate: accumulating ? 1 : 0)
        Self.multiply(product, level, place)
    }

    static func multiply(
        _ product: skein_int8_product, _ level: skein_level, _ place: WorkSharing.Place?
    ) {
        var product = product
        // Counted in the time of fp32: integers are some four times as fast.
        let operations = product.rows * product.n * product.k / 2
        guard let place, place.isWorthSharing(columns: product.n, operations: operations) else {
            skein_int8_multiply(level, &product)
            return
        }
        place.run(columns: product.n) { columns, _ in
            let first = columns.lowerBound
            var part = product
            part.p += first / 64 * product.panel
            part.scales = product.scales.map { $0 + first }
            part.y += first
            part.n = columns.count
            skein_int8_multiply(level, &part)
        }
    }
}
