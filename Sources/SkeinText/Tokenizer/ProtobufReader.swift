/// Reads the fields of a protobuf message in the order of their bytes. Every length is checked
/// before it is used; nothing is copied.
struct ProtobufReader {
    /// A field's value by its wire type; groups, which are obsolete, are refused.
    enum Value {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes(Range<Int>)
        case fixed32(UInt32)
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position: Int
    private let end: Int
    private let source: String

    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - range: where the message is in it.
    ///   - source: the file, for errors.
    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, source: String) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
        self.source = source
    }

    /// The next field; nil at the end of the message.
    ///
    /// - Throws: `TokenizerError` with the offset of a field that is malformed or cut.
    mutating func next() throws(TokenizerError) -> (number: Int, value: Value)? {
        guard position < end else { return nil }
        let start = position
        func malformed() -> TokenizerError {
            .invalid(.malformedField(offset: start), source: source)
        }
        guard let tag = varint(), tag >> 3 > 0, let number = Int(exactly: tag >> 3) else {
            throw malformed()
        }
        switch tag & 7 {
        case 0:
            guard let value = varint() else { throw malformed() }
            return (number, .varint(value))
        case 1:
            guard let value = fixed(8) else { throw malformed() }
            return (number, .fixed64(value))
        case 2:
            guard let length = varint(), length <= UInt64(end - position) else {
                throw malformed()
            }
            let from = position
            position += Int(length)
            return (number, .bytes(from..<position))
        case 5:
            guard let value = fixed(4) else { throw malformed() }
            return (number, .fixed32(UInt32(truncatingIfNeeded: value)))
        default: throw malformed()
        }
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard position < end else { return nil }
            let byte = bytes[position]
            position += 1
            // The tenth byte has room for one bit.
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    private mutating func fixed(_ count: Int) -> UInt64? {
        guard end - position >= count else { return nil }
        var value: UInt64 = 0
        for i in 0..<count { value |= UInt64(bytes[position + i]) << UInt64(8 * i) }
        position += count
        return value
    }
}
