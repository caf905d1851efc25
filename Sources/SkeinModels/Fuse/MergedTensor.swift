import SkeinFormats
import SkeinTensors

/// A weight of a base model with an adapter's change added: W' = W + s B A; with magnitudes m (DoRA) each
/// row is then scaled to the length m.
///
/// Row by row, in fp64 from the sum over the rank to the sum with W, rounded once to Float: the
/// bits depend on the row alone, not on threads or blocks. Checked in `FuseTests`.
struct MergedTensor: Sendable {
    /// A pair of matrices, and the rows that it changes.
    struct Change: Sendable, Equatable {
        /// In the folder's order; fewer than all if projections share the tensor.
        let rows: Range<Int>
        /// Offset of A, [rank, in], and of B, [rows, rank], in `numbers`.
        let a: Int
        let b: Int
        let rank: Int
        /// s.
        let scale: Float
        /// Offset of the magnitudes, [rows]; nil: none.
        var magnitude: Int?
    }

    /// Rows in the folder's order.
    let view: TensorView
    let changes: [Change]
    /// Those of the adapter, as `AdapterParameters.changes` wants them; empty without one.
    let numbers: [Float]
    /// Rows of one head if the halves of heads are interleaved in the output; nil: the folder's order.
    var interleavedHeadRows: Int?
    /// Added to every number: folders and GGUF files may differ by 1 in the weights of norms.
    var shift: Float = 0

    var shape: [Int] { view.shape }
    /// 1 for a vector.
    var rows: Int { view.rows }
    var columns: Int { view.columns }

    /// Writes rows `range` of the output as Float.
    func read(_ range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        if let headRows = interleavedHeadRows {
            readInterleaved(range, headRows, into: out)
        } else {
            view.dequantize(rows: range, into: out)
        }
        if shift != 0 {
            for index in 0..<(range.count * columns) { out[index] += shift }
        }
        if changes.isEmpty { return }
        numbers.withUnsafeBufferPointer { values in
            guard let values = values.baseAddress else { return }
            for change in changes {
                for row in range {
                    let place = interleavedHeadRows.map { Self.folderRow(row, $0) } ?? row
                    guard change.rows.contains(place) else { continue }
                    Self.add(
                        scale: change.scale, rank: change.rank,
                        b: values + change.b + (place - change.rows.lowerBound) * change.rank,
                        a: values + change.a, columns: columns,
                        to: out + (row - range.lowerBound) * columns)
                    guard let magnitude = change.magnitude else { continue }
                    Self.scale(
                        out + (row - range.lowerBound) * columns, columns,
                        to: values[magnitude + place - change.rows.lowerBound])
                }
            }
        }
    }

    private func readInterleaved(
        _ range: Range<Int>, _ headRows: Int, into out: UnsafeMutablePointer<Float>
    ) {
        if view.shape.count == 1 {
            let elements = view.floats()
            for index in 0..<columns { out[index] = elements[Self.folderRow(index, headRows)] }
            return
        }
        for row in range {
            let place = Self.folderRow(row, headRows)
            view.dequantize(
                rows: place..<(place + 1), into: out + (row - range.lowerBound) * columns)
        }
    }

    /// The folder's row of an interleaved one: (head, index, half) is (head, half, index) there.
    private static func folderRow(_ row: Int, _ headRows: Int) -> Int {
        let within = row % headRows
        return row - within + within % 2 * (headRows / 2) + within / 2
    }

    /// Gives a row its length.
    private static func scale(
        _ row: UnsafeMutablePointer<Float>, _ columns: Int, to magnitude: Float
    ) {
        let length = RowLength.squared(row, count: columns).squareRoot()
        let gain = length > 0 ? Double(magnitude) / length : 0
        for column in 0..<columns { row[column] = Float(Double(row[column]) * gain) }
    }

    /// Shapes and ranges:
    ///   - b: [rank], a row of B.
    ///   - a: [rank, columns].
    ///   - row: [columns], one of W.
    private static func add(
        scale: Float, rank: Int, b: UnsafePointer<Float>, a: UnsafePointer<Float>, columns: Int,
        to row: UnsafeMutablePointer<Float>
    ) {
        withUnsafeTemporaryAllocation(of: Double.self, capacity: rank) { factors in
            guard let factors = factors.baseAddress else { return }
            for k in 0..<rank { factors[k] = Double(scale) * Double(b[k]) }
            let whole = columns & ~3
            for column in stride(from: 0, to: whole, by: 4) {
                var sum = SIMD4<Double>()
                for k in 0..<rank {
                    let a = UnsafeRawPointer(a + k * columns + column).loadUnaligned(
                        as: SIMD4<Float>.self)
                    sum += SIMD4<Double>(a) * factors[k]
                }
                let place = UnsafeMutableRawPointer(row + column)
                let w = place.loadUnaligned(as: SIMD4<Float>.self)
                place.storeBytes(
                    of: SIMD4<Float>(SIMD4<Double>(w) + sum), as: SIMD4<Float>.self)
            }
            for column in whole..<columns {
                var sum = 0.0
                for k in 0..<rank { sum += Double(a[k * columns + column]) * factors[k] }
                row[column] = Float(Double(row[column]) + sum)
            }
        }
    }
}

extension AdapterParameters {
    /// What the adapter changes, by the folder's names of tensors.
    ///
    /// - Returns: the changes, and the numbers that they are made of: the adapter's, with the two
    ///   matrices of the embedding transposed, whose change W + s (B A)^T is then that of any weight.
    /// - Throws: `FuseError.tiedEdge` when the embedding and the head are one tensor.
    func changes(
        _ model: ModelConfiguration
    ) throws(FuseError) -> (changes: [String: [MergedTensor.Change]], numbers: [Float]) {
        let design = model.design
        var changes: [String: [MergedTensor.Change]] = [:]
        for (layer, block) in design.blocks.enumerated() {
            for (projection, pair) in zip(block.projections, shape.pairs[layer]) {
                guard let pair else { continue }
                changes[design.tensor(projection.tensor + ".weight", in: layer), default: []]
                    .append(
                        MergedTensor.Change(
                            rows: projection.rows ?? 0..<projection.outputs, a: pair.a, b: pair.b,
                            rank: pair.rank, scale: pair.scale, magnitude: pair.magnitude))
            }
        }
        if model.tiedEmbeddings, let edge = shape.edges.first {
            throw .tiedEdge(module: edge.module.name)
        }
        var numbers = values
        if let head = shape.head {
            changes[design.names.head] = [
                MergedTensor.Change(
                    rows: 0..<head.outputs, a: head.a, b: head.b, rank: head.rank,
                    scale: head.scale)
            ]
        }
        if let pair = shape.embedding {
            values.withUnsafeBufferPointer { from in
                numbers.withUnsafeMutableBufferPointer { to in
                    guard let from = from.baseAddress, let to = to.baseAddress else { return }
                    LowRank.transpose(
                        from + pair.a, rows: pair.rank, columns: pair.inputs, into: to + pair.a)
                    LowRank.transpose(
                        from + pair.b, rows: pair.outputs, columns: pair.rank, into: to + pair.b)
                }
            }
            changes[design.names.embedding] = [
                MergedTensor.Change(
                    rows: 0..<pair.inputs, a: pair.b, b: pair.a, rank: pair.rank,
                    scale: pair.scale)
            ]
        }
        return (changes, numbers)
    }
}
