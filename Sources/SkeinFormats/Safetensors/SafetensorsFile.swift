import SkeinBasics

/// A safetensors file, mapped: 8 bytes of header length, a JSON header, the tensors.
///
/// Accepts and refuses what the reference reader (safetensors 0.8.0, tensor.rs) does: the tensors,
/// ordered by offset, must cover the data section without gaps, overlaps or leftover bytes.
package struct SafetensorsFile: Sendable {
    /// The tensors that can be weights: F32, F16, BF16.
    package let tensors: [String: TensorView]
    /// The element type of every other tensor, such as "I64".
    package let otherTensors: [String: String]
    /// All tensors as bytes.
    let stored: [String: StoredTensor]
    /// The header's `__metadata__`.
    package let metadata: [String: String]
    let file: MappedFile

    package var path: String { file.path }

    /// Maps the file and reads its header.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - use: what it holds, for errors.
    /// - Throws: `FileError` when it cannot be read, `FormatError` when it is invalid,
    ///   `ForeignFileError` when it is of another kind.
    package init(path: String, use: ForeignFileError.Use = .model) throws {
        let file = try MappedFile(path: path)
        do {
            try self.init(file)
        } catch let error as FormatError {
            throw file.withBytes { Self.foreign($0, path: path, use: use) } ?? error as any Error
        }
    }

    /// What a file is that was refused. A header says of itself that it is one.
    private static func foreign(
        _ bytes: UnsafeRawBufferPointer, path: String, use: ForeignFileError.Use
    ) -> ForeignFileError? {
        guard let error = ForeignFileError(path: path, bytes: bytes, use: use),
            error.kind != .safetensors
        else { return nil }
        return error
    }

    /// Reads all of the file into memory, so that an unreadable sector is an error now, not a
    /// signal later (`MappedFile`).
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - store: where it is.
    ///   - use: what it holds, for errors.
    ///   - check: sees the header before memory is taken for the tensors, and may refuse them. The
    ///     file is as long as its header says.
    /// - Throws: `FileError`, `FormatError`, `ForeignFileError`; what `check` throws.
    package init(
        copying path: String, in store: any Store = DiskStore(),
        use: ForeignFileError.Use = .adapter,
        admitting check: (_ header: SafetensorsHeader) throws -> Void
    ) throws {
        let file = try store.file(copying: path) { file in
            try check(Self.header(of: file, use: use))
        }
        // Parsed again: the file may have been replaced after the check.
        try self.init(file)
    }

    private static func header(
        of file: MappedFile.Preview, use: ForeignFileError.Use
    ) throws -> SafetensorsHeader {
        let start = try file.bytes(0..<min(ForeignFile.lookedAt, file.count))
        do {
            let length = try SafetensorsHeader.length(
                start: Array(start.prefix(8)), fileBytes: file.count, path: file.path)
            let text = try file.bytes(8..<(8 + length))
            return try text.withUnsafeBytes {
                try SafetensorsHeader(text: $0, fileBytes: file.count, path: file.path)
            }
        } catch let error as FormatError {
            let foreign = start.withUnsafeBytes { Self.foreign($0, path: file.path, use: use) }
            throw foreign ?? error as any Error
        }
    }

    private init(_ file: MappedFile) throws {
        self.file = file
        let header = try file.withBytes { bytes in
            let length = try SafetensorsHeader.length(
                start: Array(bytes.prefix(8)), fileBytes: bytes.count, path: file.path)
            return try SafetensorsHeader(
                text: UnsafeRawBufferPointer(rebasing: bytes[8..<(8 + length)]),
                fileBytes: bytes.count, path: file.path)
        }
        metadata = header.metadata
        otherTensors = header.otherTensors
        stored = header.entries.reduce(into: [:]) { stored, entry in
            stored[entry.key] = StoredTensor(
                name: entry.key, type: entry.value.type, shape: entry.value.shape,
                range: entry.value.range, file: file)
        }
        tensors = header.tensors.reduce(into: [:]) { tensors, tensor in
            tensors[tensor.key] = TensorView(
                name: tensor.key, elementType: tensor.value.type, shape: tensor.value.shape,
                file: file, offset: tensor.value.offset)
        }
    }

    /// The tensor `name` as a weight.
    ///
    /// - Throws: `FormatError.missingTensor`, or `.unsupportedElementType` when it is not a float.
    package func tensor(_ name: String) throws -> TensorView {
        if let view = tensors[name] { return view }
        if let type = otherTensors[name] {
            throw FormatError.unsupportedElementType(path: path, tensor: name, found: type)
        }
        throw FormatError.missingTensor(path: path, tensor: name)
    }
}
