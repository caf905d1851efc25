import SkeinBasics

/// One weight inside a mapped file, read row by row as Float. Keeps the mapping alive.
package struct TensorView: Sendable {
    /// The file's own name, until `renamed`.
    package let name: String
    /// Row-major, outermost first: a projection is [out, in], a norm [width].
    package let shape: [Int]
    /// Rows of one head if its two halves are interleaved in the file; nil if rows are in order.
    let interleavedHeadRows: Int?
    private let storage: Storage

    private enum Storage: Sendable {
        /// One run of blocks from `offset`.
        case blocks(ElementType, MappedFile, offset: Int)
        /// The rows from `firstRow` on of a matrix that several tensors make.
        case composite(any CompositeMatrix, firstRow: Int)
    }

    /// The caller has checked that the tensor's bytes lie inside the file and that the last dimension
    /// is a whole number of blocks.
    init(
        name: String, elementType: ElementType, shape: [Int], file: MappedFile, offset: Int,
        interleavedHeadRows: Int? = nil
    ) {
        self.name = name
        self.shape = shape
        self.interleavedHeadRows = interleavedHeadRows
        storage = .blocks(elementType, file, offset: offset)
    }

    /// A matrix that several tensors make.
    init(name: String, _ matrix: any CompositeMatrix) {
        self.init(name: name, shape: matrix.shape, nil, .composite(matrix, firstRow: 0))
    }

    private init(name: String, shape: [Int], _ interleavedHeadRows: Int?, _ storage: Storage) {
        self.name = name
        self.shape = shape
        self.interleavedHeadRows = interleavedHeadRows
        self.storage = storage
    }

    /// How the numbers lie in the file; nil for a matrix that several tensors make.
    package var elementType: ElementType? {
        guard case .blocks(let type, _, _) = storage else { return nil }
        return type
    }

    /// What the format calls the type, for people: "Q4_1".
    package var typeName: String {
        switch storage {
        case .blocks(let type, _, _): type.name
        case .composite(let matrix, _): matrix.typeName
        }
    }

    /// The plain type that holds each number exactly: F32 for most.
    package var exactType: ElementType {
        switch storage {
        case .blocks(let type, _, _): type.blockElements == 1 ? type : .f32
        case .composite(let matrix, _): matrix.exactType
        }
    }

    /// The product of all dimensions but the last; 1 for a vector.
    package var rows: Int { shape.dropLast().reduce(1, *) }
    /// The last dimension; 1 for a scalar.
    package var columns: Int { shape.last ?? 1 }
    package var elementCount: Int { rows * columns }

    /// Bytes in the file; of some rows of a composite matrix, their share.
    package var byteCount: Int {
        switch storage {
        case .blocks(let type, _, _):
            return elementCount / type.blockElements * type.blockBytes
        case .composite(let matrix, _):
            let (high, low) = matrix.byteCount.multipliedFullWidth(by: rows)
            return max(1, matrix.shape[0]).dividingFullWidth((high, low)).quotient
        }
    }

    /// The path of the file that holds it.
    package var path: String {
        switch storage {
        case .blocks(_, let file, _): file.path
        case .composite(let matrix, _): matrix.path
        }
    }

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
        guard let headRows = interleavedHeadRows else { return stored(range, into: out) }
        if shape.count == 1, !range.isEmpty { return deinterleave(headRows, into: out) }
        for row in range {
            let place = Self.interleavedRow(row, headRows)
            stored(place..<(place + 1), into: out + (row - range.lowerBound) * columns)
        }
    }

    /// A vector whose elements are ordered as rows are: the bias of an interleaved matrix.
    private func deinterleave(_ headRows: Int, into out: UnsafeMutablePointer<Float>) {
        let elements = [Float](unsafeUninitializedCapacity: columns) { buffer, count in
            if let base = buffer.baseAddress { stored(0..<1, into: base) }
            count = columns
        }
        for index in 0..<columns { out[index] = elements[Self.interleavedRow(index, headRows)] }
    }

    /// Rows in the file's order.
    private func stored(_ range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        switch storage {
        case .blocks(let type, let file, let offset):
            withExtendedLifetime(file) {
                guard let base = file.bytes.baseAddress else { return }
                let blocks = columns / type.blockElements
                QuantizationBlocks.dequantize(
                    type, from: base + offset + range.lowerBound * blocks * type.blockBytes,
                    blocks: range.count * blocks, into: out)
            }
        case .composite(let matrix, let firstRow):
            matrix.dequantize(
                rows: (firstRow + range.lowerBound)..<(firstRow + range.upperBound), into: out)
        }
    }

    /// Calls `body` with the addresses of rows `range` in the file, each the row that `dequantize`
    /// reads. They have any alignment and are valid during the call. `elementType` is not nil.
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
        guard case .blocks(let type, let file, let offset) = storage else {
            preconditionFailure("the rows of \(name) are in several tensors")
        }
        return withExtendedLifetime(file) {
            guard let base = file.bytes.baseAddress else { return body([]) }
            let first = base + offset
            let rowBytes = columns / type.blockElements * type.blockBytes
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
    package static func interleavedRow(_ row: Int, _ headRows: Int) -> Int {
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
        TensorView(name: name, shape: shape, interleavedHeadRows, storage)
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
        let storage: Storage
        switch self.storage {
        case .blocks(let type, let file, let offset):
            let rowBytes = columns / type.blockElements * type.blockBytes
            storage = .blocks(type, file, offset: offset + range.lowerBound * rowBytes)
        case .composite(let matrix, let firstRow):
            storage = .composite(matrix, firstRow: firstRow + range.lowerBound)
        }
        return TensorView(
            name: name, shape: [range.count, columns], interleavedHeadRows, storage)
    }
}
