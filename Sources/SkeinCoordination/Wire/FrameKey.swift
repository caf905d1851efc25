import SkeinBasics

/// The secret of one direction of one connection, 32 bytes.
package struct FrameKey: Sendable, Equatable, CustomStringConvertible {
    let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        precondition(bytes.count == 32)
        self.bytes = bytes
    }

    /// Says nothing, so that no log can reveal it.
    package var description: String { "FrameKey" }
}

/// The end of an authenticated frame: the first 16 bytes of
/// HMAC-SHA256(key, header || SHA-256(payload)).
///
/// Over the payload's digest, not the payload: a message for many peers is hashed once, and each
/// costs a code of 72 bytes. Half of it is enough: a forger has one try.
struct FrameTag {
    static let byteCount = 16

    private let start: MessageAuthentication
    /// A REJECTION has no tag until a frame of its direction had one: it may be sent because the
    /// two sides do not have the same key.
    private var isEstablished = false

    init(key: FrameKey) {
        start = MessageAuthentication(key: key.bytes)
    }

    /// Whether the next frame of the direction has a tag, if it is of this type.
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
