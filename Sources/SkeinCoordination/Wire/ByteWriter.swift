/// Puts a message together: integers little endian, texts and lists after their length.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []
    /// What fills the message to its end, shared with its author: it may be most of a gigabyte.
    private(set) var rest: [UInt8] = []

    mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(bytes.count + count)
    }

    mutating func integer(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// The number of elements that follow.
    mutating func count(_ count: Int) {
        integer(UInt32(count))
    }

    /// Digests, nonces and proofs: their length is part of the protocol and is not written.
    mutating func fixed(_ value: [UInt8], _ count: Int) {
        precondition(value.count == count, "\(value.count) bytes in a field of \(count)")
        bytes += value
    }

    /// Bytes whose count was already written.
    mutating func raw(_ value: [UInt8]) {
        bytes += value
    }

    /// What fills the message to its end; nothing may follow.
    mutating func rest(_ value: [UInt8]) {
        rest = value
    }

    /// A text, after its length in bytes. What a reader would refuse is not sent: control
    /// characters become "?", and a text that is too long is cut before a character.
    mutating func text(_ text: String, limit: Int) {
        var out: [UInt8] = []
        for scalar in text.unicodeScalars {
            let encoded = Array(
                String(PlainText.isPlain(scalar) ? scalar : "?").utf8)
            if out.count + encoded.count > limit { break }
            out += encoded
        }
        integer(UInt16(out.count))
        bytes += out
    }
}

/// What a text from the wire may contain: it ends up in logs and on terminals.
enum PlainText {
    /// No control characters (C0, DEL, C1), no line separators, nothing that reverses the direction
    /// of writing.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069: false
        default: true
        }
    }
}
