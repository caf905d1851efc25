import SkeinBasics

/// HMAC-SHA256 (RFC 2104), incremental: a value that knows its key can be copied and used again.
package struct MessageAuthentication: Sendable {
    private var inner = SHA256()
    private var outer = SHA256()

    /// A key of any length; the empty one is allowed and protects nothing.
    package init(key: [UInt8]) {
        var block = key.count > 64 ? SHA256.digest(of: key).bytes : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5c })
    }

    /// Appends bytes to the message without copying them.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        inner.update(bytes)
    }

    /// Appends bytes to the message.
    package mutating func update(_ bytes: [UInt8]) {
        inner.update(bytes)
    }

    /// The code of the message, 32 bytes. The value is spent after this.
    package consuming func finish() -> [UInt8] {
        var last = outer
        last.update(inner.finish().bytes)
        return last.finish().bytes
    }

    /// The code of a text followed by bytes.
    package static func code(key: [UInt8], _ text: String, _ bytes: [UInt8] = []) -> [UInt8] {
        var code = MessageAuthentication(key: key)
        code.update(Array(text.utf8))
        code.update(bytes)
        return code.finish()
    }

    /// Whether two codes are equal, in a time that depends only on their length: an earlier answer
    /// for a wrong first byte would let a peer guess a proof byte by byte.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}
