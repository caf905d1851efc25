import CSkeinKernels
import SkeinBasics

/// A frozen matrix in bf16, packed once for its products: y = x P, sums in fp32.
///
/// A model's matrix W [outputs, inputs] is packed for one of two uses: forward, y = x W^T
/// (P = W^T), and backward, dx = dy W (P = W). Several matrices with equal inputs may be stacked,
/// rows under rows, so that one product serves query, key and value, or gate and up.
///
/// Rounding both factors to bf16 (nearest, ties to even) costs up to 2^-8 of a product and buys
/// up to twice the speed of `MatMul` where the processor has VDPBF16PS. An element's bits are a
/// function of its row of x, its column of P and what y held. They do not depend on the other rows,
/// on how a range of rows or columns was cut, or (but for NaN payloads) on the processor's level.
///
/// `@unchecked Sendable`: only `pack` writes it, before any product reads it, and threads that pack
/// at the same time write disjoint pieces.
package final class PackedMatrix: @unchecked Sendable {
    /// Which product a model's matrix is packed for.
    package enum Use: Sendable {
        /// y [T, outputs] = x [T, inputs] W^T.
        case forward
        /// dx [T, inputs] = dy [T, outputs] W.
        case backward
    }

    package let use: Use
    /// Rows of P: what the product sums over. Inputs of W forward, outputs backward.
    package let rows: Int
    /// Columns of P and y. Outputs of W forward, inputs backward.
    package let columns: Int
    /// Replaces the process's level in tests.
    let level: skein_level?
    private let base: UnsafeMutablePointer<UInt16>

    /// Memory that `pack` fills.
    ///
    /// - Throws: `PackedMatrixError` when memory cannot be allocated.
    package convenience init(outputs: Int, inputs: Int, for use: Use) throws {
        try self.init(outputs: outputs, inputs: inputs, for: use, level: nil)
    }

    init(outputs: Int, inputs: Int, for use: Use, level: skein_level?) throws {
        precondition(outputs > 0 && inputs > 0)
        self.use = use
        self.level = level
        (rows, columns) = use == .forward ? (inputs, outputs) : (outputs, inputs)
        let bytes = Self.bytes(rows: rows, columns: columns)
        guard let memory = skein_bf16_allocate(bytes) else {
            throw PackedMatrixError.noMemory(bytes: bytes)
        }
        base = memory.bindMemory(to: UInt16.self, capacity: bytes / 2)
    }

    deinit {
        skein_bf16_free(base)
    }

    /// Bytes of a packed P [rows, columns].
    package static func bytes(rows: Int, columns: Int) -> Int { skein_bf16_bytes(rows, columns) }

    /// Bytes of this matrix.
    package var bytes: Int { Self.bytes(rows: rows, columns: columns) }

    /// What products run on, for the fingerprint: avx512bf16, avx512, avx2 or plain.
    package static var kernelName: String { String(cString: skein_bf16_kernel_name()) }

    /// Packs rows `first..<first + count` of W from w [count, inputs], contiguous floats.
    ///
    /// Pieces may come in any order and from several threads. `first` is a multiple of 32, and so
    /// is `count` except for the last piece of W.
    package func pack(_ w: UnsafePointer<Float>, first: Int, count: Int) {
        let (outputs, inputs) = use == .forward ? (columns, rows) : (rows, columns)
        precondition(first % 32 == 0 && (count % 32 == 0 || first + count == outputs))
        precondition(first >= 0 && count >= 0 && first + count <= outputs)
        let level = level ?? currentLevel()
        switch use {
        case .forward:
            skein_bf16_pack_columns(
                level, w, inputs, count, inputs, start(row: 0, column: first))
        case .backward:
            skein_bf16_pack_rows(
                level, w, inputs, count, inputs, start(row: first, column: 0),
                skein_bf16_panel(rows))
        }
    }

    /// y = x P, or y += x P.
    ///
    /// A part of the product may be asked for, to compute a head of many outputs in pieces. Sums
    /// over consecutive ranges of rows of P, each accumulated onto the one before, have the bits of
    /// the sum over all at once.
    ///
    /// - Parameters:
    ///   - x: [T, rows], or [T, `rowRange.count`].
    ///   - rowRange: The rows of P to sum over; starts and (but at the end of P) ends at even numbers.
    ///   - columnRange: The columns of P to compute; starts and (but at the end of P) ends at
    ///     multiples of 32.
    ///   - y: [T, columns], or [T, `columnRange.count`].
    ///   - stride: Floats from one row of y to the next.
    ///   - accumulating: Whether the sums start at what y holds instead of zero.
    ///   - rounded: Receives the sums as bf16, [T, `columnRange.count`], an even number of columns,
    ///     rows `RoundedRows.stride(columns:)` apart; y is scratch then, left undefined. Not while
    ///     accumulating.
    ///   - place: The calling thread's, if others may help.
    package func multiply(
        _ x: RoundedRows, rowRange: Range<Int>? = nil, columnRange: Range<Int>? = nil,
        into y: UnsafeMutablePointer<Float>, stride: Int, accumulating: Bool = false,
        rounded: UnsafeMutablePointer<UInt16>? = nil, place: WorkSharing.Place? = nil
    ) {
        let k = rowRange ?? 0..<rows
        let n = columnRange ?? 0..<columns
        precondition(x.columns == k.count && stride >= n.count)
        precondition(rounded == nil || (!accumulating && n.count % 2 == 0))
        precondition(k.lowerBound % 2 == 0 && (k.upperBound % 2 == 0 || k.upperBound == rows))
        precondition(n.lowerBound % 32 == 0 && (n.upperBound % 32 == 0 || n.upperBound == columns))
        precondition(k.lowerBound >= 0 && k.upperBound <= rows)
        precondition(n.lowerBound >= 0 && n.upperBound <= columns)
        var product = skein_bf16_product(
            x: x.base, stride_x: x.stride, p: start(row: k.lowerBound, column: n.lowerBound),
            panel: skein_bf16_panel(rows), y: y, stride_y: stride, rows: x.rows, k: k.count,
            n: n.count, accumulate: accumulating ? 1 : 0, rounded: rounded,
            stride_rounded: RoundedRows.stride(columns: n.count))
        let level = level ?? currentLevel()
        // Counted in the time of fp32: bf16 is twice as fast.
        let operations = x.rows * n.count * k.count
        if let place, place.isWorthSharing(columns: n.count, operations: operations) {
            share(product, level, place)
        } else {
            skein_bf16_multiply(level, &product)
        }
    }

    private func share(
        _ product: skein_bf16_product, _ level: skein_level, _ place: WorkSharing.Place
    ) {
        place.run(columns: product.n) { columns, _ in
            let first = columns.lowerBound
            var part = product
            part.p += first / 32 * product.panel
            part.y += first
            part.rounded = product.rounded.map { $0 + first }
            part.n = columns.count
            skein_bf16_multiply(level, &part)
        }
    }

    /// Where the pair of rows that starts at `row` lies in the panel that starts at `column`.
    private func start(row: Int, column: Int) -> UnsafeMutablePointer<UInt16> {
        base + column / 32 * skein_bf16_panel(rows) + row * 32
    }
}

/// Why a matrix cannot be packed.
package enum PackedMatrixError: Error, Equatable {
    case noMemory(bytes: Int)
}

extension PackedMatrixError: Explained {
    package var explanation: Explanation {
        switch self {
        case .noMemory(let bytes):
            Explanation(
                what: "cannot allocate \(bytes) bytes for a packed weight",
                remedy: "end other programs, train with --weights streamed, or read prompts with "
                    + "compute fp32 (--compute fp32)", status: .inputOutput)
        }
    }
}

/// The level of the process; the C function shares its name with its type.
func currentLevel() -> skein_level { skein_level() }
