import SkeinFormats
import SkeinModels
import SkeinTensors

/// Where a packed matrix gets its rows from.
enum MatrixSource: Sendable {
    case file(TensorView)
    case decoder(WeightMatrix)

    var shape: (rows: Int, columns: Int) {
        switch self {
        case .file(let view): (view.rows, view.columns)
        case .decoder(let matrix): (matrix.rows, matrix.columns)
        }
    }

    /// The form in which it is packed; a type without a packed form has the plain one that holds
    /// its numbers exactly.
    private var element: InterleavedMatrix.Element {
        guard case .file(let view) = self else { return .f32 }
        return view.elementType.flatMap { Self.element(of: $0) }
            ?? InterleavedMatrix.Element(view.exactType) ?? .f32
    }

    /// What rows of a file's type are packed as without becoming floats; nil if they must.
    static func element(of type: ElementType) -> InterleavedMatrix.Element? {
        type.codeRows.map { InterleavedMatrix.Element($0) } ?? InterleavedMatrix.Element(type)
    }

    /// Bytes of the packed matrix.
    var packedBytes: Int {
        InterleavedMatrix.byteCount(element, rows: shape.rows, columns: shape.columns)
    }

    /// Pieces between two calls of `check`: at least 16 MiB, which take some ten milliseconds.
    private static let piecesBetweenChecks = 64

    /// Lays out one memory for all matrices and fills it, on all threads; ends early with what
    /// `check` throws.
    static func pack(
        _ sources: [MatrixSource], team: ComputeTeam, check: () throws -> Void
    ) rethrows -> (memory: InterleavedMemory, matrices: [InterleavedMatrix]) {
        let sizes = sources.map(\.packedBytes)
        let total = sizes.reduce(0, +)
        let memory = InterleavedMemory(byteCount: total)
        var matrices: [InterleavedMatrix] = []
        var offset = 0
        for (source, size) in zip(sources, sizes) {
            matrices.append(
                InterleavedMatrix(
                    source.element, rows: source.shape.rows, columns: source.shape.columns,
                    at: memory.base + offset))
            offset += size
        }
        // Small enough to share out evenly, large enough that a team can number them.
        let pieceBytes = max(1 << 18, total >> 15)
        var pieces: [(source: MatrixSource, matrix: InterleavedMatrix, groups: Range<Int>)] = []
        for (source, matrix) in zip(sources, matrices) {
            let groups = max(1, pieceBytes * matrix.groups / max(1, matrix.byteCount))
            for first in stride(from: 0, to: matrix.groups, by: groups) {
                pieces.append((source, matrix, first..<min(matrix.groups, first + groups)))
            }
        }
        let plan = pieces
        for first in stride(from: 0, to: plan.count, by: piecesBetweenChecks) {
            try check()
            team.run(min(piecesBetweenChecks, plan.count - first)) { piece, _ in
                let (source, matrix, groups) = plan[first + piece]
                for group in groups { source.pack(group, of: matrix) }
            }
        }
        return (memory, matrices)
    }

    private func pack(_ group: Int, of matrix: InterleavedMatrix) {
        let rows = matrix.rows(ofGroup: group)
        if case .file(let view) = self, let type = view.elementType,
            Self.element(of: type) != nil
        {
            view.withRowAddresses(rows) { Self.pack($0, of: type, group: group, of: matrix) }
            return
        }
        let floats = FloatBuffer(count: rows.count * matrix.columns)
        switch self {
        case .file(let view): view.dequantize(rows: rows, into: floats.base)
        case .decoder(let weights):
            for (i, row) in rows.enumerated() {
                weights.copyRow(row, into: floats.base + i * matrix.columns)
            }
        }
        matrix.pack(group: group, rowMajor: floats.base, element)
    }
}

extension MatrixSource {
    /// Packs the rows of a group from where the file has them; their type has an `element(of:)`.
    static func pack(
        _ addresses: [UnsafeRawPointer], of type: ElementType, group: Int,
        of matrix: InterleavedMatrix
    ) {
        guard let form = type.codeRows else { return matrix.pack(group: group, addresses) }
        let blocks = matrix.columns / type.blockElements
        let rowBytes = matrix.columns / form.blockElements * form.blockBytes
        withUnsafeTemporaryAllocation(
            byteCount: addresses.count * rowBytes, alignment: MemoryLayout<UInt64>.alignment
        ) { memory in
            guard let base = memory.baseAddress else { return }
            let rows = addresses.indices.map { base + $0 * rowBytes }
            for (from, to) in zip(addresses, rows) {
                type.rewrite(from: from, blocks: blocks, into: to)
            }
            matrix.pack(group: group, rows.map { UnsafeRawPointer($0) })
        }
    }
}

extension InterleavedMatrix.Element {
    init(_ rows: CodeRows) {
        switch rows {
        case .q8x0: self = .q8x0
        case .q4K: self = .q4K
        case .q5K: self = .q5K
        case .q6K: self = .q6K
        }
    }

    /// nil for a type that is not packed as it is in the file.
    init?(_ type: ElementType) {
        switch type {
        case .q4x0: self = .q4x0
        case .q4x1: self = .q4x1
        case .q8x0: self = .q8x0
        case .bf16: self = .bf16
        case .f16: self = .f16
        case .f32: self = .f32
        case .q5x0, .q5x1, .q2K, .q3K, .q4K, .q5K, .q6K, .iq4NL, .iq4XS, .mxfp4: return nil
        }
    }
}

extension InterleavedMatrix {
    /// Packs one group of a plain type, which holds the numbers exactly, from its rows, which are
    /// contiguous.
    func pack(group: Int, rowMajor floats: UnsafePointer<Float>, _ element: Element = .f32) {
        let count = rows(ofGroup: group).count
        let numbers = UnsafeBufferPointer(start: floats, count: count * columns)
        switch element {
        case .bf16: pack(group: group, halves: numbers.map { UInt16($0.bitPattern >> 16) })
        case .f16: pack(group: group, halves: numbers.map { Float16($0).bitPattern })
        default:
            pack(group: group, (0..<count).map { UnsafeRawPointer(floats + $0 * columns) })
        }
    }

    private func pack(group: Int, halves: [UInt16]) {
        halves.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            pack(group: group, (0..<rows(ofGroup: group).count).map { base + $0 * columns * 2 })
        }
    }
}
