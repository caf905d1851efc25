import CSkeinKernels
import Foundation

/// Memory for packed weights; freed with the last reference.
///
/// Filled in disjoint pieces before it is read; hence Sendable.
package final class InterleavedMemory: @unchecked Sendable {
    package let base: UnsafeMutableRawPointer
    package let byteCount: Int

    /// Uninitialized memory.
    package init(byteCount: Int) {
        self.byteCount = byteCount
        base = LargePages.allocate(byteCount: byteCount, threshold: 2 << 20)
    }

    deinit {
        free(base)
    }
}

/// A matrix [rows, columns] in groups of 16 rows, as small as in its file, for products with one
/// vector or with many. CSkeinKernels/include/matvec.h has the layout.
///
/// It holds only addresses, so that a product counts no references: its user keeps alive the
/// `InterleavedMemory` that it was laid out in.
package struct InterleavedMatrix: @unchecked Sendable {
    // The memory is written only while it is packed, in disjoint groups, then only read.

    /// How the numbers are held; always exactly the file's numbers.
    package enum Element: Sendable, CaseIterable {
        case q4x0
        case q4x1
        case q8x0
        case q4K
        case q5K
        case q6K
        case bf16
        case f16
        case f32

        var kernel: skein_packed {
            switch self {
            case .q4x0: SKEIN_PACKED_Q4_0
            case .q4x1: SKEIN_PACKED_Q4_1
            case .q8x0: SKEIN_PACKED_Q8_0
            case .q4K: SKEIN_PACKED_Q4_K
            case .q5K: SKEIN_PACKED_Q5_K
            case .q6K: SKEIN_PACKED_Q6_K
            case .bf16: SKEIN_PACKED_BF16
            case .f16: SKEIN_PACKED_F16
            case .f32: SKEIN_PACKED_F32
            }
        }
    }

    /// Rows in a group.
    package static let groupRows = 16
    /// Groups that are converted to floats at once: as many as the widest tile of a product has.
    package static let panelGroups = SKEIN_PRODUCT_COLUMNS / groupRows
    /// Floats of scratch that products with many vectors need: a piece of some groups as floats, and as
    /// bf16.
    package static let scratchCount = SKEIN_PRODUCT_PANEL * 3 / 2

    package let element: Element
    package let rows: Int
    package let columns: Int
    private let base: UnsafeMutableRawPointer
    private let groupBytes: Int

    /// Bytes of a matrix, a multiple of 64 so that the next one is aligned.
    package static func byteCount(_ element: Element, rows: Int, columns: Int) -> Int {
        let groups = (rows + groupRows - 1) / groupRows
        return (groups * skein_packed_group_bytes(element.kernel, columns) + 63) / 64 * 64
    }

    /// A matrix at `base`, which is aligned to 64 bytes and has room for `byteCount`.
    ///
    /// `columns` is a multiple of 32 for the quantized types, of 256 for the K types.
    package init(_ element: Element, rows: Int, columns: Int, at base: UnsafeMutableRawPointer) {
        self.element = element
        self.rows = rows
        self.columns = columns
        self.base = base
        groupBytes = skein_packed_group_bytes(element.kernel, columns)
    }

    package var groups: Int { (rows + Self.groupRows - 1) / Self.groupRows }
    /// Bytes that a product with all rows reads.
    package var byteCount: Int { groups * groupBytes }

    /// The packed numbers.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: byteCount)
    }

    func address(ofGroup group: Int) -> UnsafeRawPointer {
        UnsafeRawPointer(base + group * groupBytes)
    }

    /// The rows of a group.
    package func rows(ofGroup group: Int) -> Range<Int> {
        group * Self.groupRows..<min(rows, (group + 1) * Self.groupRows)
    }

    /// The rows of some groups.
    package func rows(ofGroups range: Range<Int>) -> Range<Int> {
        range.lowerBound * Self.groupRows..<min(rows, range.upperBound * Self.groupRows)
    }

    /// Packs one group.
    ///
    /// - Parameters:
    ///   - group: 0 ..< `groups`.
    ///   - addresses: One for each of the group's rows, as in the file; of the K types as in
    ///     CSkeinKernels/include/matvec.h.
    package func pack(group: Int, _ addresses: [UnsafeRawPointer]) {
        precondition(addresses.count == rows(ofGroup: group).count, "an address for each row")
        var all: [UnsafeRawPointer?] = addresses
        all += Array(repeating: nil, count: Self.groupRows - addresses.count)
        skein_pack_group(element.kernel, all, columns, base + group * groupBytes)
    }

    /// y = (adding ? y : 0) + W x for the rows of some groups.
    ///
    /// Shapes and ranges:
    ///   - x: [columns].
    ///   - spread: from `spread(_:columns:into:)`.
    ///   - y: [rows]; only those of the groups are written.
    package func multiply(
        groups range: Range<Int>, _ x: UnsafePointer<Float>, spread: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>, adding: Bool = false
    ) {
        let first = range.lowerBound * Self.groupRows
        skein_matvec(
            skein_level(), element.kernel, base + range.lowerBound * groupBytes, columns,
            range.count, x, spread, y + first,
            min(rows, range.upperBound * Self.groupRows) - first, adding ? 1 : 0)
    }

    /// Floats that `spread(_:columns:into:)` writes.
    package static func spreadCount(columns: Int) -> Int { columns + columns / 32 }

    /// Prepares a vector for products with 4-bit weights.
    package static func spread(
        _ x: UnsafePointer<Float>, columns: Int, into spread: UnsafeMutablePointer<Float>
    ) {
        skein_spread(skein_level(), x, columns, spread)
    }

    /// Y = (adding ? Y : 0) + X W^T for the rows of some groups, with the weights as floats.
    ///
    /// Shapes and ranges:
    ///   - x: [tokens, columns].
    ///   - y: [tokens, rows]; only the groups' columns are written.
    ///   - scratch: `scratchCount` floats.
    package func multiply(
        groups range: Range<Int>, tokens: Int, _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>, adding: Bool = false,
        scratch: UnsafeMutablePointer<Float>
    ) {
        let level = skein_level()
        forEachPiece(of: range, level, scratch) { written, k, step in
            var product = skein_panel(
                x: x + k.lowerBound, row_x: columns, step_x: 1, w: scratch,
                group_w: Self.groupRows, step_w: step, y: y + written.lowerBound,
                stride_y: rows, rows: tokens, n: written.count, k: k.count,
                accumulate: adding || k.lowerBound > 0 ? 1 : 0)
            skein_multiply_panel(level, &product)
        }
    }

    /// The same with weights and inputs rounded to bf16, sums in fp32.
    ///
    /// Shapes and ranges:
    ///   - x: [tokens, columns].
    ///   - y: [tokens, rows]; only the groups' columns are written.
    ///   - scratch: `scratchCount` floats, aligned to 64 bytes.
    package func multiply(
        groups range: Range<Int>, _ x: RoundedRows, into y: UnsafeMutablePointer<Float>,
        adding: Bool = false, scratch: UnsafeMutablePointer<Float>
    ) {
        let level = skein_level()
        let packed = UnsafeMutableRawPointer(scratch + SKEIN_PRODUCT_PANEL)
            .assumingMemoryBound(to: UInt16.self)
        forEachPiece(of: range, level, scratch) { written, k, step in
            let panel = skein_bf16_panel(k.count)
            skein_bf16_pack_rows(level, scratch, step, k.count, step, packed, panel)
            var product = skein_bf16_product(
                x: x.base + k.lowerBound, stride_x: x.stride, p: packed,
                panel: panel, y: y + written.lowerBound, stride_y: rows,
                rows: x.rows, k: k.count, n: written.count,
                accumulate: adding || k.lowerBound > 0 ? 1 : 0, rounded: nil, stride_rounded: 0)
            skein_bf16_multiply(level, &product)
        }
    }

    /// Converts each piece of some groups into `scratch`, [columns, step], and then calls
    /// `body(rows, columns, step)`.
    private func forEachPiece(
        of range: Range<Int>, _ level: skein_level, _ scratch: UnsafeMutablePointer<Float>,
        _ body: (_ rows: Range<Int>, _ columns: Range<Int>, _ step: Int) -> Void
    ) {
        for first in stride(from: range.lowerBound, to: range.upperBound, by: Self.panelGroups) {
            let held = first..<min(range.upperBound, first + Self.panelGroups)
            let step = held.count * Self.groupRows
            var k = 0
            while k < columns {
                let depth = skein_product_depth(columns - k)
                for group in held {
                    skein_unpack_group(
                        level, element.kernel, base + group * groupBytes, k, depth,
                        scratch + (group - first) * Self.groupRows, step)
                }
                body(rows(ofGroups: held), k..<(k + depth), step)
                k += depth
            }
        }
    }

    /// The rows of a group as floats, the file's numbers.
    ///
    /// Shapes and ranges:
    ///   - out: [the group's rows, columns].
    ///   - scratch: `scratchCount` floats.
    package func copyGroup(
        _ group: Int, into out: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>
    ) {
        let count = rows(ofGroup: group).count
        forEachPiece(of: group..<group + 1, skein_level(), scratch) { _, k, step in
            for row in 0..<count {
                let to = out + row * columns + k.lowerBound
                for i in 0..<k.count { to[i] = scratch[i * step + row] }
            }
        }
    }

    /// One row as floats, the file's numbers.
    ///
    /// Shapes and ranges:
    ///   - out: [columns].
    ///   - scratch: `scratchCount` floats.
    package func copyRow(
        _ row: Int, into out: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>
    ) {
        let group = base + row / Self.groupRows * groupBytes
        let most = SKEIN_PRODUCT_PANEL / Self.groupRows
        for k in stride(from: 0, to: columns, by: most) {
            let depth = min(most, columns - k)
            skein_unpack_group(
                skein_level(), element.kernel, group, k, depth, scratch, Self.groupRows)
            for i in 0..<depth {
                out[k + i] = scratch[i * Self.groupRows + row % Self.groupRows]
            }
        }
    }
}
