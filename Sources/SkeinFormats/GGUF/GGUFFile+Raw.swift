import SkeinBasics

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
