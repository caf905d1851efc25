import SkeinBasics
import SkeinJSON

/// Writes F32 safetensors files; equal tensors and metadata give equal bytes.
package enum SafetensorsWriter {
    package struct Tensor: Sendable {
        package var name: String
        /// Row-major.
        package var shape: [Int]
        /// As many as the product of `shape`.
        package var floats: [Float]

        package init(name: String, shape: [Int], floats: [Float]) {
            precondition(shape.reduce(1, *) == floats.count, "shape and floats of \(name) differ")
            self.name = name
            self.shape = shape
            self.floats = floats
        }
    }

    /// Replaces the file at `path` atomically, and flushes it to disk.
    ///
    /// The tensors are written sorted by name, as the reference writer does for one element type; the
    /// header is padded with spaces to a multiple of 8, so that the data is aligned.
    ///
    /// - Throws: `FileError` when it cannot be written, `FormatError.duplicate` when a name appears
    ///   twice.
    package static func write(
        _ tensors: [Tensor], metadata: [String: String], to path: String,
        in store: any Store = DiskStore()
    ) throws {
        let sorted = tensors.sorted { $0.name < $1.name }
        let head = try header(sorted, metadata: metadata, path: path)
        try store.write(to: path) { append in
            try head.withUnsafeBytes { try append($0) }
            for tensor in sorted { try tensor.floats.withUnsafeBytes { try append($0) } }
        }
    }

    /// SHA-256 of what `write` writes.
    ///
    /// - Throws: `FormatError.duplicate` when a name appears twice.
    static func digest(
        of tensors: [Tensor], metadata: [String: String]
    ) throws -> SHA256.Digest {
        let sorted = tensors.sorted { $0.name < $1.name }
        var hash = SHA256()
        hash.update(try header(sorted, metadata: metadata, path: ""))
        for tensor in sorted { tensor.floats.withUnsafeBytes { hash.update($0) } }
        return hash.finish()
    }

    /// The bytes that `write` writes.
    ///
    /// - Throws: `FormatError.duplicate` when a name appears twice.
    package static func bytes(_ tensors: [Tensor], metadata: [String: String]) throws -> [UInt8] {
        let sorted = tensors.sorted { $0.name < $1.name }
        var out = try header(sorted, metadata: metadata, path: "")
        for tensor in sorted { tensor.floats.withUnsafeBytes { out += $0 } }
        return out
    }

    /// Header length and header.
    private static func header(
        _ sorted: [Tensor], metadata: [String: String], path: String
    ) throws -> [UInt8] {
        var fields: [(String, JSONValue)] = []
        if !metadata.isEmpty {
            let pairs = metadata.sorted { $0.key < $1.key }
            fields.append(("__metadata__", .fields(pairs.map { ($0.key, .text($0.value)) })))
        }
        var offset = 0
        for (index, tensor) in sorted.enumerated() {
            guard index == 0 || sorted[index - 1].name != tensor.name else {
                throw FormatError.duplicate(path: path, name: tensor.name)
            }
            let end = offset + tensor.floats.count * 4
            fields.append(
                (
                    tensor.name,
                    .fields([
                        ("dtype", .text("F32")),
                        ("shape", .list(tensor.shape.map { .integer($0) })),
                        ("data_offsets", .list([.integer(offset), .integer(end)])),
                    ])
                ))
            offset = end
        }
        return framed(JSONValue.fields(fields).written)
    }

    /// The header `text` with its length before it, padded with spaces to a multiple of 8.
    static func framed(_ text: String) -> [UInt8] {
        var text = Array(text.utf8)
        text += [UInt8](repeating: UInt8(ascii: " "), count: (8 - text.count % 8) % 8)
        return withUnsafeBytes(of: UInt64(text.count).littleEndian) { Array($0) } + text
    }
}
