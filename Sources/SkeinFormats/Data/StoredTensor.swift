import SkeinBasics

/// A tensor of a safetensors file as bytes of whatever type: one part of a quantized weight.
struct StoredTensor: Sendable {
    let name: String
    /// As the format spells it, such as "U32".
    let type: String
    let shape: [Int]
    /// Where its bytes are in the file; the header's reader has checked them against type and shape.
    let range: Range<Int>
    let file: MappedFile

    var path: String { file.path }
    var elementCount: Int { shape.reduce(1, *) }

    /// Calls `body` with the address of the first byte, of any alignment, valid during the call; not
    /// at all when the file is empty.
    func withAddress(_ body: (UnsafeRawPointer) -> Void) {
        withExtendedLifetime(file) {
            if let base = file.bytes.baseAddress { body(base + range.lowerBound) }
        }
    }

    /// Checks that it is a matrix of `expected` with 1 to `Limits.matrixSide` rows and columns.
    ///
    /// - Returns: its two sizes.
    /// - Throws: `FormatError.badTensor`.
    func matrix(of expected: String) throws -> (rows: Int, columns: Int) {
        guard type == expected, shape.count == 2 else {
            throw FormatError.badTensor(
                path: path, tensor: name, field: "element type and dimensions",
                expected: "\(expected) and 2", found: "\(type) and \(shape.count)")
        }
        guard shape.allSatisfy({ (1...Limits.matrixSide).contains($0) }) else {
            throw FormatError.badTensor(
                path: path, tensor: name, field: "shape",
                expected: "two sizes of 1 to \(Limits.matrixSide)", found: "\(shape)")
        }
        return (shape[0], shape[1])
    }

    /// Checks type and shape.
    ///
    /// - Throws: `FormatError.unsupportedElementType`, `.wrongShape`.
    func require(types: [String], shape expected: [Int]) throws {
        guard types.contains(type) else {
            throw FormatError.badTensor(
                path: path, tensor: name, field: "element type",
                expected: types.joined(separator: " or "), found: type)
        }
        guard shape == expected else {
            throw FormatError.wrongShape(
                path: path, tensor: name, expected: expected, found: shape)
        }
    }
}
