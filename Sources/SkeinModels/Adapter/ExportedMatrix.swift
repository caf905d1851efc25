import SkeinFormats

// Matrices of an adapter in other tools' forms.
extension SafetensorsWriter.Tensor {
    /// The same product of this A and a B with matrices of a larger rank.
    func widened(
        with b: SafetensorsWriter.Tensor, to rank: Int
    ) -> (a: SafetensorsWriter.Tensor, b: SafetensorsWriter.Tensor) {
        let a = self
        let own = a.shape[0]
        guard own < rank else { return (a, b) }
        let (inputs, outputs) = (a.shape[1], b.shape[0])
        var wide = [Float](repeating: 0, count: outputs * rank)
        for row in 0..<outputs {
            for column in 0..<own { wide[row * rank + column] = b.floats[row * own + column] }
        }
        return (
            .init(
                name: a.name, shape: [rank, inputs],
                floats: a.floats + [Float](repeating: 0, count: (rank - own) * inputs)),
            .init(name: b.name, shape: [outputs, rank], floats: wide)
        )
    }

    func transposed() -> SafetensorsWriter.Tensor {
        let (rows, columns) = (shape[0], shape[1])
        var out = [Float](repeating: 0, count: floats.count)
        for row in 0..<rows {
            for column in 0..<columns {
                out[column * rows + row] = floats[row * columns + column]
            }
        }
        return .init(name: name, shape: [columns, rows], floats: out)
    }

    /// Under the name that it has in a model whose blocks are named so.
    func renamed(_ blocks: AdapterTensorName.Blocks) -> SafetensorsWriter.Tensor {
        var tensor = self
        tensor.name =
            EdgeTensorName(name)?.with(blocks).text
            ?? AdapterTensorName(name)?.with(blocks).text ?? name
        return tensor
    }

    /// nil: all.
    func rows(_ range: Range<Int>?) -> SafetensorsWriter.Tensor {
        guard let range else { return self }
        let columns = shape.count == 2 ? shape[1] : 1
        return .init(
            name: name, shape: [range.count] + shape.dropFirst(),
            floats: Array(floats[(range.lowerBound * columns)..<(range.upperBound * columns)]))
    }

    /// `factor` 1 leaves every bit.
    func multiplied(by factor: Double) -> SafetensorsWriter.Tensor {
        guard factor != 1 else { return self }
        return .init(name: name, shape: shape, floats: floats.map { Float(Double($0) * factor) })
    }
}
