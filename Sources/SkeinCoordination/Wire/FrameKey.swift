import SkeinBasics

/// The secret of one direction of one connection, 32 bytes.
package struct FrameKey: Sendable, Equatable, CustomStringConvertible {
    let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        precondition(bytes.count == 32)
        self.bytes = bytes
    }

    /// Says nothing, so that no log can tell it.
    package var description: String { "FrameKey" }
}

/// The end of an authenticated frame: the first 16 bytes of
/// HMAC-SHA256(key, header || SHA-256(payload)).
///
/// Of the payload's digest and not of the payload: one message for many peers is hashed once, and
/// each of them costs a code of 72 bytes. Half of the code is enough: a forger has one try, after which the connection is closed.
struct FrameTag {
    static let byteCount = 16

    private let start: MessageAuthentication
    /// A REJECTION has no tag as long as no frame of its direction had one: it may be there
    /// because the two sides do not have the same key.
    private var isEstablished = false

    init(key: FrameKey) {
        start = MessageAuthentication(key: key.bytes)
    }

    /// Whether the next frame of the direction has a tag, when it is of this type.
    func covers(type: UInt16) -> Bool {
        isEstablished || type != MessageType.rejection.rawValue
    }

    mutating func establish() {
        isEstablished = true
    }

    /// The tag of a frame with these 40 bytes of header and this SHA-256 of its payload.
    func code(header: [UInt8], digest: SHA256.Digest) -> ArraySlice<UInt8> {
        var code = start
        code.update(header)
        code.update(digest.bytes)
        return code.finish()[..<Self.byteCount]
    }
}
