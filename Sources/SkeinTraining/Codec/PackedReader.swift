/// Reads a message and trusts nothing in it: every length is known from the count beforehand.
struct PackedReader: ~Copyable {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var planesRead = 0
    let kind: PackedKind
    /// Decoded planes; at most as many bytes as the numbers take.
    private var decoded: [UnsafeMutableRawBufferPointer] = []

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - bytes: the whole message; outlives the reader.
    ///   - count: of the numbers, known to the receiver.
    ///   - limit: of the message's length.
    ///   - kinds: the allowed ones, the usual one first.
    /// - Throws: `CodecError`.
    init(
        _ bytes: UnsafeRawBufferPointer, count: Int, limit: Int, kinds: [PackedKind]
    ) throws(CodecError) {
        guard bytes.count <= limit else {
            throw .tooLong(found: bytes.count, limit: limit)
        }
        guard bytes.count >= PackedPlanes.headerBytes else {
            throw .truncated(
                offset: 0, needed: PackedPlanes.headerBytes, found: bytes.count)
        }
        guard bytes[0] == PackedPlanes.version else { throw .unknownVersion(found: bytes[0]) }
        guard let kind = PackedKind(rawValue: bytes[1]), kinds.contains(kind) else {
            throw .wrongKind(expected: kinds.first?.name ?? "", found: bytes[1])
        }
        let found = Int(
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self)))
        guard found == count else { throw .wrongCount(expected: count, found: found) }
        self.bytes = bytes
        self.kind = kind
        offset = PackedPlanes.headerBytes
    }

    deinit {
        for plane in decoded { plane.deallocate() }
    }

    /// The next plane, of `length` bytes; lives as long as the reader.
    mutating func plane(_ length: Int) throws(CodecError) -> UnsafeRawBufferPointer {
        let plane = planesRead
        planesRead += 1
        let header = try take(PackedPlanes.planeHeaderBytes)
        guard let method = PackedPlanes.Method(rawValue: header[0]) else {
            throw .unknownMethod(plane: plane, found: header[0])
        }
        let packed = Int(
            UInt32(littleEndian: header.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
        guard method == .raw ? packed == length : packed < length else {
            throw .wrongLength(plane: plane, expected: length, found: packed)
        }
        let body = try take(packed)
        switch method {
        case .raw: return body
        case .zstd:
            let out = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
            decoded.append(out)
            do {
                try ZstdFrame.decompress(body, into: out)
            } catch {
                throw .badFrame(plane: plane, detail: error.what)
            }
            return UnsafeRawBufferPointer(out)
        }
    }

    /// The next plane as a pointer; only for `length` above 0.
    private mutating func bytes(_ length: Int) throws(CodecError) -> UnsafePointer<UInt8>? {
        try plane(length).baseAddress?.assumingMemoryBound(to: UInt8.self)
    }

    /// Reads four planes and passes them to `body`, which is not called if `count` is 0.
    mutating func fourPlanes(
        _ count: Int, _ body: (BytePlanes.Planes) -> Void
    ) throws(CodecError) {
        let first = try bytes(count)
        let second = try bytes(count)
        let third = try bytes(count)
        let fourth = try bytes(count)
        if let first, let second, let third, let fourth {
            body((first, second, third, fourth))
        }
    }

    /// Makes sure that nothing follows.
    func finish() throws(CodecError) {
        guard offset == bytes.count else {
            throw .trailingBytes(count: bytes.count - offset)
        }
    }

    private mutating func take(_ length: Int) throws(CodecError) -> UnsafeRawBufferPointer {
        guard length <= bytes.count - offset else {
            throw .truncated(offset: offset, needed: length, found: bytes.count - offset)
        }
        defer { offset += length }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
    }
}
