import SkeinTensors

/// A frozen matrix W [rows, columns] in bf16, packed for both directions of a pass.
struct PackedWeight: Sendable {
    private let forward: PackedMatrix
    private let backward: PackedMatrix

    /// Room that `pack` fills.
    ///
    /// - Throws: `PackedMatrixError` when memory cannot be allocated.
    init(rows: Int, columns: Int) throws {
        forward = try PackedMatrix(outputs: rows, inputs: columns, for: .forward)
        backward = try PackedMatrix(outputs: rows, inputs: columns, for: .backward)
    }

    /// Bytes of both directions.
    static func bytes(rows: Int, columns: Int) -> Int {
        PackedMatrix.bytes(rows: columns, columns: rows)
            + PackedMatrix.bytes(rows: rows, columns: columns)
    }

    /// Packs rows of W, [range.count, columns]. Threads may pack different pieces at once; a piece
    /// starts at a multiple of 32.
    func pack(rows range: Range<Int>, from w: UnsafePointer<Float>) {
        forward.pack(w, first: range.lowerBound, count: range.count)
        backward.pack(w, first: range.lowerBound, count: range.count)
    }

    /// `WeightMatrix.forward`.
    func forward(
        rows range: Range<Int>, _ x: RoundedRows, into y: UnsafeMutablePointer<Float>,
        strideY: Int, accumulating: Bool, rounded: UnsafeMutablePointer<UInt16>?,
        place: WorkSharing.Place?
    ) {
        forward.multiply(
            x, columnRange: range, into: y, stride: strideY, accumulating: accumulating,
            rounded: rounded, place: place)
    }

    /// `WeightMatrix.backward`.
    func backward(
        rows range: Range<Int>, _ dy: RoundedRows, into dx: UnsafeMutablePointer<Float>,
        accumulating: Bool, rounded: UnsafeMutablePointer<UInt16>?, place: WorkSharing.Place?
    ) {
        backward.multiply(
            dy, rowRange: range, into: dx, stride: backward.columns, accumulating: accumulating,
            rounded: rounded, place: place)
    }
}
