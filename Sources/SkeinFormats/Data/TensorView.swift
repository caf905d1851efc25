import SkeinBasics

/// One weight inside a mapped file, read row by row as Float. Keeps the mapping alive.
package struct TensorView: Sendable {
    /// The file's own name, until `renamed`.
    package let name: String
    package let elementType: ElementType
    /// Row-major, outermost first: a projection is [out, in], a norm [width].
    package let shape: [Int]
    /// Rows of one head if its two halves are interleaved in the file; nil if rows are in order.
    let interleavedHeadRows: Int?
    private let file: MappedFile
    private let offset: Int

    /// The caller has checked that the tensor's bytes lie inside the file and that the last dimension
    /// is a whole number of blocks.
    init(
        name: String, elementType: ElementType, shape: [Int], file: MappedFile, offset: Int,
        interleavedHeadRows: Int? = nil
    ) {
        self.name = name
        self.elementType = elementType
        self.shape = shape
        self.file = file
        self.offset = offset
        self.interleavedHeadRows = interleavedHeadRows
    }

    /// The product of all dimensions but the last; 1 for a vector.
    package var rows: Int { shape.dropLast().reduce(1, *) }
    /// The last dimension; 1 for a scalar.
    package var columns: Int { shape.last ?? 1 }
    package var elementCount: Int { rows * columns }
    /// Bytes in the file.
    package var byteCount: Int { elementCount / elementType.blockElements * elementType.blockBytes }

    /// The path of the file that holds it.
    package var path: String { file.path }

    /// Writes rows `range` as Float, row-major, columns contiguous.
    ///
    /// Interleaved rows, which are stored for rotation of neighbours, are given in Hugging Face's
    /// order for rotation of halves, so that one decoder serves both.
    ///
    /// - Parameters:
    ///   - range: Rows within 0 ..< `rows`.
    ///   - out: Room for `range.count` x `columns` floats.
    package func dequantize(rows range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= rows, "rows outside tensor \(name)")
        withExtendedLifetime(file) {
            guard let base = file.bytes.baseAddress else { return }
            let first = base + offset
            let blocks = columns / elementType.blockElements
            let rowBytes = blocks * elementType.blockBytes
            if let headRows = interleavedHeadRows, shape.count == 1, range.count == 1 {
                deinterleave(first, blocks, headRows, into: out)
                return
            }
            guard let headRows = interleavedHeadRows else {
                QuantizationBlocks.dequantize(
                    elementType, from: first + range.lowerBound * rowBytes,
                    blocks: range.count * blocks, into: out)
                return
            }
            for row in range {
                QuantizationBlocks.dequantize(
                    elementType, from: first + Self.interleavedRow(row, headRows) * rowBytes,
                    blocks: blocks, into: out + (row - range.lowerBound) * columns)
            }
        }
    }

    /// A vector whose elements are ordered as rows are: the bias of an interleaved matrix.
    private func deinterleave(
        _ first: UnsafeRawPointer, _ blocks: Int, _ headRows: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        let stored = [Float](unsafeUninitializedCapacity: columns) { buffer, count in
            if let base = buffer.baseAddress {
                QuantizationBlocks.dequantize(elementType, from: first, blocks: blocks, into: base)
            }
            count = columns
        }
        for index in 0..<columns { out[index] = stored[Self.interleavedRow(index, headRows)] }
    }

    /// Calls `body` with the addresses of rows `range` in the file, each the row that `dequantize`
    /// reads. They have any alignment and are valid during the call.
    ///
    /// - Parameters:
    ///   - range: Rows within 0 ..< `rows`.
    ///   - body: Gets one address for each row; none when the file is empty.
    /// - Returns: What `body` returns.
    package func withRowAddresses<Result>(
        _ range: Range<Int>, _ body: ([UnsafeRawPointer]) -> Result
    ) -> Result {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= rows, "rows outside tensor \(name)")
        return withExtendedLifetime(file) {
            guard let base = file.bytes.baseAddress else { return body([]) }
            let first = base + offset
            let rowBytes = columns / elementType.blockElements * elementType.blockBytes
            return body(
                range.map { row in
                    let place = interleavedHeadRows.map { Self.interleavedRow(row, $0) } ?? row
                    return first + place * rowBytes
                })
        }
    }

    /// The whole tensor as Float.
    package func floats() -> [Float] {
        [Float](unsafeUninitializedCapacity: elementCount) { buffer, count in
            if let out = buffer.baseAddress { dequantize(rows: 0..<rows, into: out) }
            count = elementCount
        }
    }

    /// The file's row for row `row`: (head, half, index) lies at (head, index, half).
    ///
    /// The inverse of the permutation in llama.cpp's conversion of Llama models.
    private static func interleavedRow(_ row: Int, _ headRows: Int) -> Int {
        let within = row % headRows
        let half = headRows / 2
        return row - within + within % half * 2 + within / half
    }

    /// The same bytes under another name.
    ///
    /// - Parameters:
    ///   - name: the new name.
    ///   - interleavedHeadRows: rows of one head, even, if its halves are interleaved in the file.
    /// - Returns: a view of the same file.
    package func renamed(_ name: String, interleavedHeadRows: Int? = nil) -> TensorView {
        TensorView(
            name: name, elementType: elementType, shape: shape, file: file, offset: offset,
            interleavedHeadRows: interleavedHeadRows)
    }

    /// Some of its rows as a matrix of their own.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - range: within 0 ..< `rows`; of interleaved rows, whole heads.
    /// - Returns: a view of the same file.
    package func part(_ name: String, rows range: Range<Int>) -> TensorView {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= rows
                && (interleavedHeadRows.map { range.lowerBound % $0 == 0 } ?? true),
            "rows outside tensor \(self.name)")
        let rowBytes = columns / elementType.blockElements * elementType.blockBytes
        return TensorView(
            name: name, elementType: elementType, shape: [range.count, columns], file: file,
            offset: offset + range.lowerBound * rowBytes, interleavedHeadRows: interleavedHeadRows)
    }
}
