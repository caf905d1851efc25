import SkeinBasics

/// Reads little-endian fields one after the other from a mapped file, never past its end.
struct ByteReader {
    let file: MappedFile
    private(set) var offset = 0

    init(_ file: MappedFile) {
        self.file = file
    }

    /// The bytes left.
    var left: Int { file.count - offset }

    /// Throws `FormatError.truncated` when fewer than `count` bytes are left for `field`.
    func require(_ count: UInt64, for field: String) throws {
        guard count <= UInt64(left) else {
            throw FormatError.truncated(
                path: file.path, offset: offset, field: field, expected: count, found: left)
        }
    }

    mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
        _ field: String, as type: Integer.Type = Integer.self
    ) throws -> Integer {
        let size = MemoryLayout<Integer>.size
        try require(UInt64(size), for: field)
        let value = file.bytes.loadUnaligned(fromByteOffset: offset, as: Integer.self)
        offset += size
        return Integer(littleEndian: value)
    }

    /// A 64-bit length and that many bytes of UTF-8.
    mutating func string(_ field: String) throws -> String {
        let start = offset
        let length: UInt64 = try integer(field)
        guard length <= Limits.stringBytes else {
            throw FormatError.overLimit(
                path: file.path, field: field, limit: Limits.stringBytes, found: length)
        }
        try require(length, for: field)
        let bytes = UnsafeRawBufferPointer(rebasing: file.bytes[offset..<(offset + Int(length))])
        guard let text = String(validating: bytes.bindMemory(to: UInt8.self), as: UTF8.self)
        else { throw FormatError.notText(path: file.path, offset: start, field: field) }
        offset += Int(length)
        return text
    }

    /// A run of fixed-width integers; `count` is at most `Limits.arrayElements`.
    mutating func integers<Integer: FixedWidthInteger & BitwiseCopyable>(
        _ field: String, as type: Integer.Type, count: Int
    ) throws -> [Integer] {
        let size = MemoryLayout<Integer>.size
        try require(UInt64(count * size), for: field)
        let values = (0..<count).map { index in
            Integer(
                littleEndian: file.bytes.loadUnaligned(
                    fromByteOffset: offset + index * size, as: Integer.self))
        }
        offset += count * size
        return values
    }
}
