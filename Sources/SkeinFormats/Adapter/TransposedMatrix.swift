extension TensorView {
    /// The small matrix whose rows are this one's columns.
    package func transposed(named name: String) -> TensorView {
        TensorView(name: name, TransposedMatrix(source: self))
    }
}

/// A small matrix whose rows are the columns of a tensor: MLX stores LoRA's matrices that way.
private struct TransposedMatrix: CompositeMatrix {
    /// [shape[1], shape[0]].
    let source: TensorView

    var shape: [Int] { [source.columns, source.rows] }
    var typeName: String { source.typeName }
    var exactType: ElementType { source.exactType }
    var byteCount: Int { source.byteCount }
    var path: String { source.path }

    func dequantize(rows range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        let columns = source.rows
        // One stored row at a time: it has an element of each row that is asked for.
        var row = [Float](repeating: 0, count: source.columns)
        row.withUnsafeMutableBufferPointer { row in
            guard let base = row.baseAddress else { return }
            for column in 0..<columns {
                source.dequantize(rows: column..<(column + 1), into: base)
                for index in range {
                    out[(index - range.lowerBound) * columns + column] = base[index]
                }
            }
        }
    }
}
