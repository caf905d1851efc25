import SkeinBasics

/// A GGUF file, version 2 or 3, or the parts of a split one: metadata and tensors, mapped.
///
/// Checks what ggml's own loader checks (docs/gguf.md, src/gguf.cpp): counts, lengths, names,
/// shapes, types, duplicates, and that tensors lie one after the other inside the file.
package struct GGUFFile: Sendable {
    /// The first part's.
    package let metadata: [String: GGUFValue]
    /// By the file's own names, such as "blk.0.attn_q.weight"; rows in the file's order.
    package let tensors: [String: TensorView]
    /// The path that was given to `init`: any part of a split file.
    package let path: String
    /// The file, or its parts in order.
    let files: [MappedFile]

    /// Whether it says that it is an adapter.
    package var isAdapter: Bool { metadata["general.type"] == .string("adapter") }

    /// Maps the file, and the other parts if it is split, and reads everything but the weights.
    ///
    /// - Throws: `FileError` when one cannot be mapped, `FormatError` when one is not a valid GGUF
    ///   file, has a tensor of a type that Skein does not read, or a part is missing,
    ///   `ForeignFileError` when one is of another kind.
    package init(path: String) throws {
        self.path = path
        let part = try Part(path: path)
        guard case .unsigned(let count) = part.metadata["split.count"], count > 1 else {
            (metadata, tensors, files) = (part.metadata, part.tensors, [part.file])
            return
        }
        let parts = try Self.parts(of: part, count: count)
        metadata = parts[0].metadata
        tensors = try Self.merged(parts)
        files = parts.map(\.file)
    }

    /// One file.
    struct Part {
        let metadata: [String: GGUFValue]
        let tensors: [String: TensorView]
        let file: MappedFile

        /// - Throws: `FileError`, `FormatError`.
        init(path: String) throws {
            file = try MappedFile(path: path)
            var reader = ByteReader(file)
            let counts = try GGUFFile.readHeader(&reader)
            metadata = try GGUFFile.readMetadata(&reader, count: counts.keys)
            let alignment = try GGUFFile.alignment(metadata, path: path)
            let entries = try GGUFFile.readEntries(&reader, count: counts.tensors)
            tensors = try GGUFFile.place(
                entries, file: file, dataStart: GGUFFile.padded(reader.offset, alignment),
                alignment: alignment)
        }
    }

    static func readHeader(
        _ reader: inout ByteReader
    ) throws -> (tensors: Int, keys: Int) {
        let path = reader.file.path
        let magic: UInt32 = try reader.integer("magic")
        guard magic == 0x4655_4747 else {
            if let foreign = reader.file.withBytes({
                ForeignFileError(path: path, bytes: $0, use: .model)
            }) {
                throw foreign
            }
            throw FormatError.badMagic(
                path: path, expected: "GGUF", found: "0x" + String(magic.byteSwapped, radix: 16))
        }
        let version: UInt32 = try reader.integer("version")
        // A big-endian file has its version in the upper bytes, and is refused here, too.
        guard version == 2 || version == 3 else {
            throw FormatError.unsupportedVersion(path: path, found: version)
        }
        let tensors: UInt64 = try reader.integer("tensor count")
        let keys: UInt64 = try reader.integer("metadata count")
        for (field, limit, found) in [
            ("tensor count", Limits.tensors, tensors),
            ("metadata count", Limits.metadataKeys, keys),
        ] where found > limit {
            throw FormatError.overLimit(path: path, field: field, limit: limit, found: found)
        }
        return (Int(tensors), Int(keys))
    }

    private static func readMetadata(
        _ reader: inout ByteReader, count: Int
    ) throws -> [String: GGUFValue] {
        var metadata: [String: GGUFValue] = [:]
        for _ in 0..<count {
            let key = try reader.string("metadata key")
            let value = try reader.ggufValue(key)
            guard metadata.updateValue(value, forKey: key) == nil else {
                throw FormatError.duplicate(path: reader.file.path, name: key)
            }
        }
        return metadata
    }

    private static func alignment(
        _ metadata: [String: GGUFValue], path: String
    ) throws -> Int {
        guard let value = metadata["general.alignment"] else { return 32 }
        guard case .unsigned(let alignment) = value, alignment.nonzeroBitCount == 1,
            alignment <= Limits.alignment
        else {
            let found =
                if case .unsigned(let number) = value { String(number) } else { value.kind }
            throw FormatError.badField(
                path: path, field: "general.alignment",
                expected: "a power of two up to \(Limits.alignment)", found: found)
        }
        return Int(alignment)
    }

    private static func padded(_ count: Int, _ alignment: Int) -> Int {
        (count + alignment - 1) / alignment * alignment
    }
}

/// The descriptions of the tensors.
extension GGUFFile {
    private struct Entry {
        let name: String
        let elementType: ElementType
        let shape: [Int]
        let byteCount: Int
        let statedOffset: UInt64
    }

    private static func readEntries(_ reader: inout ByteReader, count: Int) throws -> [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count { entries.append(try readEntry(&reader)) }
        return entries
    }

    private static func readEntry(_ reader: inout ByteReader) throws -> Entry {
        let path = reader.file.path
        let name = try reader.string("tensor name")
        guard name.utf8.count <= Limits.tensorNameBytes else {
            throw FormatError.overLimit(
                path: path, field: "tensor name", limit: UInt64(Limits.tensorNameBytes),
                found: UInt64(name.utf8.count))
        }
        let dimensions: UInt32 = try reader.integer("dimensions of \(name)")
        guard dimensions <= Limits.dimensions else {
            throw FormatError.overLimit(
                path: path, field: "dimensions of \(name)", limit: UInt64(Limits.dimensions),
                found: UInt64(dimensions))
        }
        let sizes = try reader.integers(
            "shape of \(name)", as: UInt64.self, count: Int(dimensions))
        let type: UInt32 = try reader.integer("type of \(name)")
        let offset: UInt64 = try reader.integer("offset of \(name)")
        guard let elementType = ElementType(ggmlIdentifier: type) else {
            throw FormatError.unsupportedElementType(
                path: path, tensor: name, found: ElementType.unreadName(ggmlIdentifier: type))
        }
        let (shape, byteCount) = try checkedShape(sizes, elementType, name: name, path: path)
        return Entry(
            name: name, elementType: elementType, shape: shape, byteCount: byteCount,
            statedOffset: offset)
    }

    /// The row-major shape and byte count of a tensor whose dimensions come fastest first.
    private static func checkedShape(
        _ sizes: [UInt64], _ type: ElementType, name: String, path: String
    ) throws -> (shape: [Int], byteCount: Int) {
        func bad(_ field: String, _ expected: String, _ found: String) -> FormatError {
            .badTensor(path: path, tensor: name, field: field, expected: expected, found: found)
        }
        var elements = 1
        for size in sizes {
            guard let size = Int(exactly: size), size > 0 else {
                throw bad("dimension", "1 to 2^63 - 1", String(size))
            }
            let (product, overflow) = elements.multipliedReportingOverflow(by: size)
            guard !overflow else { throw bad("element count", "below 2^63", "\(sizes)") }
            elements = product
        }
        let columns = sizes.first.map { Int($0) } ?? 1
        guard columns % type.blockElements == 0 else {
            throw bad(
                "row length", "a multiple of \(type.blockElements) for \(type.name)",
                String(columns))
        }
        guard let bytes = type.bytes(ofElements: elements) else {
            throw bad("byte count", "below 2^63", "\(sizes)")
        }
        return (sizes.reversed().map { Int($0) }, bytes)
    }

    /// Checks that the tensors lie one after the other, each padded, and all inside the file.
    private static func place(
        _ entries: [Entry], file: MappedFile, dataStart: Int, alignment: Int
    ) throws -> [String: TensorView] {
        var tensors: [String: TensorView] = [:]
        tensors.reserveCapacity(entries.count)
        var offset = dataStart
        for entry in entries {
            guard entry.statedOffset == UInt64(offset - dataStart) else {
                throw FormatError.badTensor(
                    path: file.path, tensor: entry.name, field: "offset",
                    expected: String(offset - dataStart), found: String(entry.statedOffset))
            }
            guard offset <= file.count, entry.byteCount <= file.count - offset else {
                throw FormatError.truncated(
                    path: file.path, offset: offset, field: entry.name,
                    expected: UInt64(entry.byteCount), found: max(0, file.count - offset))
            }
            let view = TensorView(
                name: entry.name, elementType: entry.elementType, shape: entry.shape, file: file,
                offset: offset)
            guard tensors.updateValue(view, forKey: entry.name) == nil else {
                throw FormatError.duplicate(path: file.path, name: entry.name)
            }
            // No overflow: the tensor ends inside the file.
            offset = dataStart + padded(offset - dataStart + entry.byteCount, alignment)
        }
        return tensors
    }
}

extension GGUFFile {
    /// The metadata in the file's order and with the widths of its numbers, so that it can be
    /// written again; of a split file, the first part's.
    ///
    /// - Throws: `FormatError`, for a file that has changed since it was opened.
    package func rawMetadata() throws -> [(key: String, value: GGUFWriter.Value)] {
        guard let file = files.first else { return [] }
        var reader = ByteReader(file)
        let count = try Self.readHeader(&reader).keys
        return try (0..<count).map { _ in
            let key = try reader.string("metadata key")
            let start = reader.offset
            _ = try reader.ggufValue(key)
            let bytes = file.withBytes { Array($0[start..<reader.offset]) }
            let type = bytes.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return (key, .raw(type: type, bytes: Array(bytes.dropFirst(4))))
        }
    }
}
