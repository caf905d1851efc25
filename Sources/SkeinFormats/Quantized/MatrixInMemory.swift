/// A tensor whose numbers are in memory: it was made, and not read.
private struct MatrixInMemory: CompositeMatrix {
    let shape: [Int]
    let path: String
    let values: [Float]

    let typeName = "F32"
    let exactType = ElementType.f32
    var byteCount: Int { 4 * values.count }

    func dequantize(rows range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        let columns = shape.last ?? 1
        let numbers = values[(range.lowerBound * columns)..<(range.upperBound * columns)]
        _ = UnsafeMutableBufferPointer(start: out, count: numbers.count).update(from: numbers)
    }
}

extension TensorView {
    /// A tensor that was made.
    ///
    /// - Parameters:
    ///   - name: of the tensor.
    ///   - shape: row-major, outermost first.
    ///   - values: as many as the shape has elements.
    ///   - path: for errors, in place of a file's.
    package init(name: String, shape: [Int], values: [Float], path: String) {
        precondition(values.count == shape.reduce(1, *), "numbers of another shape")
        self.init(name: name, MatrixInMemory(shape: shape, path: path, values: values))
    }
}
