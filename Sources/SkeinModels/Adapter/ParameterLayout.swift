import SkeinBasics
import SkeinFormats

/// Where each trained matrix is in the flat vector of all of them.
///
/// One order for parameters, gradients and optimizer moments, and so for every sum and every hash:
/// layer by layer, inside a layer by `TargetModule`'s order, A before B; then the embedding and the head.
package struct ParameterLayout: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// The tensor's name in a PEFT adapter file.
        package let name: String
        /// Row-major: A is [rank, in], B is [out, rank]. The embedding's are [rank, V] and [D, rank].
        package let shape: [Int]
        /// Index of its first element in the flat vector.
        package let offset: Int

        package var count: Int { shape.reduce(1, *) }
        /// Whether it is the matrix that reads a projection's input.
        package var isA: Bool { name.hasSuffix(".lora_A.weight") }
        /// Whether it is one of the two of the embedding.
        package var isOfEmbedding: Bool { EdgeTensorName(name)?.module == .embedding }
        package var range: Range<Int> { offset..<(offset + count) }
    }

    package let entries: [Entry]
    /// Elements of the flat vector.
    package let count: Int

    /// Lays the matrices out one after the other in the given order.
    package init(_ matrices: [(name: String, shape: [Int])]) {
        var entries: [Entry] = []
        var offset = 0
        for matrix in matrices {
            let entry = Entry(name: matrix.name, shape: matrix.shape, offset: offset)
            entries.append(entry)
            offset += entry.count
        }
        self.entries = entries
        count = offset
    }
}

// The flat vector of all trained matrices as named tensors of a file, and back.
extension ParameterLayout {
    /// The matrices as tensors whose names end in `suffix`.
    package func tensors(_ flat: [Float], suffix: String = "") -> [SafetensorsWriter.Tensor] {
        precondition(flat.count == count, "a vector of another layout")
        return entries.map { entry in
            SafetensorsWriter.Tensor(
                name: entry.name + suffix, shape: entry.shape, floats: Array(flat[entry.range]))
        }
    }

    /// Checks that a file has exactly the tensors of this layout, so that it holds no more numbers
    /// than the layout.
    ///
    /// - Parameters:
    ///   - shapes: of all the file's tensors, by name.
    ///   - suffixes: the file has each matrix once for each of these endings.
    /// - Throws: `LayoutProblem` for the first tensor that is missing, has another shape or is
    ///   unexpected.
    package func check(
        _ shapes: [String: [Int]], suffixes: [String] = [""]
    ) throws(LayoutProblem) {
        var expected: Set<String> = []
        for entry in entries {
            for suffix in suffixes {
                let name = entry.name + suffix
                guard let shape = shapes[name] else { throw .missing(tensor: name) }
                guard shape == entry.shape else {
                    throw .wrongShape(tensor: name, expected: entry.shape, found: shape)
                }
                expected.insert(name)
            }
        }
        if let name = Set(shapes.keys).subtracting(expected).min() {
            throw .unexpected(tensor: name)
        }
    }

    /// The flat vector from a file's tensors.
    ///
    /// - Parameters:
    ///   - tensors: the file's, by name; tensors that the layout does not name are ignored.
    ///   - suffix: the ending of the names in the file.
    /// - Returns: all matrices, one after the other.
    /// - Throws: `LayoutProblem` for the first tensor that is missing or has another shape.
    package func flatten(
        _ tensors: [String: TensorView], suffix: String = ""
    ) throws(LayoutProblem) -> [Float] {
        MemoryShortage.check(floats: count, for: "the adapter")
        var flat: [Float] = []
        flat.reserveCapacity(count)
        for entry in entries {
            let name = entry.name + suffix
            guard let tensor = tensors[name] else { throw .missing(tensor: name) }
            guard tensor.shape == entry.shape else {
                throw .wrongShape(tensor: name, expected: entry.shape, found: tensor.shape)
            }
            flat += tensor.floats()
        }
        return flat
    }
}

/// Why a file's tensors do not fill a layout.
package enum LayoutProblem: Error, Equatable, Sendable {
    case missing(tensor: String)
    case wrongShape(tensor: String, expected: [Int], found: [Int])
    /// The layout does not name it.
    case unexpected(tensor: String)

    package var what: String {
        switch self {
        case .missing(let tensor): "the tensor \(tensor) is missing"
        case .wrongShape(let tensor, let expected, let found):
            "the tensor \(tensor) has the shape \(found), not \(expected)"
        case .unexpected(let tensor): "the tensor \(tensor) is unexpected"
        }
    }
}
