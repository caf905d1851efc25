import SkeinBasics
import SkeinJSON

/// Writes model.safetensors, or shards of at most a number of bytes with their index, from tensors
/// that are made while they are written.
package struct ShardedSafetensors {
    package struct Tensor {
        package var name: String
        /// Row-major.
        package var shape: [Int]
        /// F32, F16 or BF16.
        package var elementType: ElementType
        /// Appends all bytes of the tensor, in as many pieces as it likes.
        package var body: (_ append: GGUFWriter.Tensor.Append) throws -> Void

        package init(
            name: String, shape: [Int], elementType: ElementType,
            body: @escaping (_ append: GGUFWriter.Tensor.Append) throws -> Void
        ) {
            self.name = name
            self.shape = shape
            self.elementType = elementType
            self.body = body
        }

        package var byteCount: Int { shape.reduce(1, *) * elementType.blockBytes }
    }

    /// transformers' limit for one file: 5 GB.
    package static let usualShardBytes = 5_000_000_000

    private let shards: [[Tensor]]

    /// - Parameters:
    ///   - tensors: in the order in which they are written; no name twice.
    ///   - maximumBytes: of the tensors in one file, unless one alone has more.
    package init(_ tensors: [Tensor], maximumBytes: Int = Self.usualShardBytes) {
        var shards: [[Tensor]] = [[]]
        var bytes = 0
        for tensor in tensors {
            if bytes > 0, bytes + tensor.byteCount > maximumBytes {
                shards.append([])
                bytes = 0
            }
            shards[shards.count - 1].append(tensor)
            bytes += tensor.byteCount
        }
        self.shards = shards
    }

    /// Writes the files into a directory.
    ///
    /// - Parameters:
    ///   - directory: an existing one.
    ///   - store: where it is.
    /// - Returns: the names of the files.
    /// - Throws: `FileError`; `FormatError.duplicate`; what a tensor's body throws.
    package func write(
        to directory: String, in store: any Store = DiskStore()
    ) throws -> [String] {
        let names = shards.indices.map { index in
            shards.count == 1
                ? "model.safetensors"
                : "model-\(Self.padded(index + 1))-of-\(Self.padded(shards.count)).safetensors"
        }
        for (name, tensors) in zip(names, shards) {
            let path = FilePath.join(directory, name)
            let head = try Self.header(tensors, path: path)
            try store.write(to: path) { append in
                try head.withUnsafeBytes { try append($0) }
                for tensor in tensors {
                    var count = 0
                    try tensor.body { bytes in
                        count += bytes.count
                        try append(bytes)
                    }
                    precondition(count == tensor.byteCount, "\(tensor.name) has \(count) bytes")
                }
            }
        }
        guard shards.count > 1 else { return names }
        let index = "model.safetensors.index.json"
        try store.write(indexText(names), to: FilePath.join(directory, index))
        return names + [index]
    }

    private func indexText(_ names: [String]) -> String {
        let places = zip(names, shards).flatMap { name, tensors in
            tensors.map { ($0.name, name) }
        }.sorted { $0.0 < $1.0 }
        let total = shards.joined().reduce(0) { $0 + $1.byteCount }
        return JSONValue.fields([
            ("metadata", .fields([("total_size", .integer(total))])),
            ("weight_map", .fields(places.map { ($0.0, .text($0.1)) })),
        ]).written + "\n"
    }

    private static func padded(_ number: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 5 - text.count)) + text
    }

    private static func header(_ tensors: [Tensor], path: String) throws -> [UInt8] {
        var fields: [(String, JSONValue)] = [("__metadata__", .fields([("format", .text("pt"))]))]
        var names: Set<String> = []
        var offset = 0
        for tensor in tensors {
            guard names.insert(tensor.name).inserted else {
                throw FormatError.duplicate(path: path, name: tensor.name)
            }
            let end = offset + tensor.byteCount
            fields.append(
                (
                    tensor.name,
                    .fields([
                        ("dtype", .text(tensor.elementType.name)),
                        ("shape", .list(tensor.shape.map { .integer($0) })),
                        ("data_offsets", .list([.integer(offset), .integer(end)])),
                    ])
                ))
            offset = end
        }
        return SafetensorsWriter.framed(JSONValue.fields(fields).written)
    }
}
