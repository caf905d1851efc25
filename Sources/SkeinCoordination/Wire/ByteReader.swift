/// Takes a message apart. Nothing is reserved before its bytes are known to be there.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    /// What follows `bytes`: the end of the message, which is not copied.
    private var tail: [UInt8]
    /// For errors.
    let type: MessageType
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer, tail: [UInt8] = [], of type: MessageType) {
        self.bytes = bytes
        self.tail = tail
        self.type = type
    }

    /// Bytes not taken yet.
    var left: Int { bytes.count - position + tail.count }

    mutating func integer<Integer: FixedWidthInteger>(
        _ field: String, _ integer: Integer.Type = Integer.self
    ) throws(WireError) -> Integer {
        let size = Integer.bitWidth / 8
        try need(size, field)
        let value = bytes.loadUnaligned(fromByteOffset: position, as: Integer.self)
        position += size
        return Integer(littleEndian: value)
    }

    /// A number of elements, at most `limit`, each with at least `size` bytes left.
    mutating func count(_ field: String, limit: Int, size: Int) throws(WireError) -> Int {
        let count = Int(try integer(field, UInt32.self))
        guard count <= limit else {
            throw .overLimit(type, field: field, limit: limit, found: count)
        }
        try need(count * size, field)
        return count
    }

    mutating func fixed(_ field: String, _ count: Int) throws(WireError) -> [UInt8] {
        try need(count, field)
        defer { position += count }
        return [UInt8](bytes[position..<position + count])
    }

    /// Bytes after their count; the message's own length bounds them.
    mutating func bytes(_ field: String) throws(WireError) -> [UInt8] {
        try fixed(field, Int(try integer(field, UInt32.self)))
    }

    /// All that is left.
    mutating func rest() -> [UInt8] {
        defer {
            position = bytes.count
            tail = []
        }
        // One of them is empty: a tail begins where the last field does.
        return position == bytes.count ? tail : [UInt8](bytes[position...]) + tail
    }

    /// Valid UTF-8 without control characters.
    mutating func text(_ field: String, limit: Int) throws(WireError) -> String {
        let count = Int(try integer(field, UInt16.self))
        guard count <= limit else {
            throw .overLimit(type, field: field, limit: limit, found: count)
        }
        let taken = try fixed(field, count)
        guard let text = String(validating: taken, as: UTF8.self),
            text.unicodeScalars.allSatisfy(PlainText.isPlain)
        else { throw .notPlainText(type, field: field) }
        return text
    }

    /// One of a closed list of numbers.
    mutating func choice<Choice: RawRepresentable>(
        _ field: String, _ choice: Choice.Type = Choice.self
    ) throws(WireError) -> Choice where Choice.RawValue: FixedWidthInteger {
        let raw = try integer(field, Choice.RawValue.self)
        guard let value = Choice(rawValue: raw) else {
            throw .badValue(type, field: field, found: UInt64(truncatingIfNeeded: raw))
        }
        return value
    }

    /// A byte count or an offset: it must fit into an `Int`.
    mutating func offset(_ field: String) throws(WireError) -> UInt64 {
        let value = try integer(field, UInt64.self)
        guard value <= UInt64(Int64.max) else {
            throw .badValue(type, field: field, found: value)
        }
        return value
    }

    /// Throws when bytes are left over.
    func end() throws(WireError) {
        guard left == 0 else { throw .trailingBytes(type, count: left) }
    }

    private func need(_ count: Int, _ field: String) throws(WireError) {
        guard count <= bytes.count - position else {
            throw .truncated(type, field: field, needed: count, left: left)
        }
    }
}
