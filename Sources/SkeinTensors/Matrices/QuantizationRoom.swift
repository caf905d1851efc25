import CSkeinKernels

/// Scratch in which rows of a weight become codes: those with a scale for every 128 numbers of a row, as
/// y = x W^T takes them, or those with one for a row, as dx = dy W does.
struct QuantizationRoom {
    /// Bytes for `rows` rows of `columns` numbers, a multiple of 64.
    static func bytes(rows: Int, columns: Int) -> Int {
        QuantizedRows.bytes(rows: padded(rows), columns: columns)
    }

    /// Rows with those that fill up 64, which are turned together.
    static func padded(_ rows: Int) -> Int { skein_int8_padded(rows) }

    private let base: UnsafeMutableRawPointer
    private let columns: Int
    private let level: skein_level

    /// `base`: `bytes(rows:columns:)`, aligned to 64.
    init(_ base: UnsafeMutableRawPointer, columns: Int, level: skein_level) {
        precondition(Int(bitPattern: base) % 64 == 0)
        self.base = base
        self.columns = columns
        self.level = level
    }

    private var stride: Int { skein_int8_stride(columns) }

    /// Packs rows w [count, columns] as columns of W^T.
    ///
    /// Shapes and ranges:
    ///   - panels: where the first row's panel begins, which is a multiple of 64.
    ///   - scales: [blocks, ...], from the first row's on; `step` floats from one block to the next.
    func packForward(
        _ w: UnsafePointer<Float>, count: Int, into panels: UnsafeMutablePointer<UInt8>,
        scales: UnsafeMutablePointer<Float>, step: Int
    ) {
        let rows = QuantizedRows(
            quantizing: w, stride: columns, rows: count, columns: columns, factors: nil, in: base,
            level: level)
        skein_int8_pack_columns(rows.kernel.q, rows.kernel.stride, count, columns, panels)
        let blocks = skein_int8_blocks(columns)
        guard let own = rows.kernel.scales else { return }
        for row in 0..<count {
            for block in 0..<blocks { scales[block * step + row] = own[row * blocks + block] }
        }
    }

    /// Packs rows w [count, columns] as rows of W.
    ///
    /// Shapes and ranges:
    ///   - w: room for `padded(count)` rows; overwritten.
    ///   - panels: where the first row's four lie in the first panel; `panel` bytes to the next one.
    ///   - scales: [padded(count)].
    func packBackward(
        _ w: UnsafeMutablePointer<Float>, count: Int, into panels: UnsafeMutablePointer<UInt8>,
        panel: Int, scales: UnsafeMutablePointer<Float>
    ) {
        let rows = Self.padded(count)
        (w + count * columns).update(repeating: 0, count: (rows - count) * columns)
        let codes = base.bindMemory(to: Int8.self, capacity: rows * stride)
        skein_int8_turned_codes(level, w, rows, columns, codes, stride, scales)
        skein_int8_pack_rows(codes, stride, rows, columns, panels, panel)
    }
}
