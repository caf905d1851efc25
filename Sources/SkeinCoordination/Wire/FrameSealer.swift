import SkeinBasics

/// Makes the frames of one direction of a connection.
package struct FrameSealer: Sendable {
    private var tag: FrameTag?
    private var sequence: UInt64 = 0
    private var major = ProtocolVersion.major

    package init() {}

    /// Puts a tag on all frames from here on, except HELLO, CHALLENGE, AUTHENTICATION, and a
    /// REJECTION that comes first.
    package mutating func authenticate(with key: FrameKey) {
        tag = FrameTag(key: key)
    }

    /// Makes the frames from here on for a peer of an older major version: the only message for it
    /// is a REJECTION, whose layout is the same in all versions.
    mutating func speak(major: UInt8) {
        precondition((1...ProtocolVersion.major).contains(major))
        self.major = major
    }

    /// Makes a frame. Frames must go out in the order in which they were sealed.
    ///
    /// - Parameters:
    ///   - type: a `MessageType`, or a number that the receiver may not know.
    ///   - flags: the frame's place in its message.
    ///   - term: the coordinator's, 0 before it is known.
    ///   - messageLength: of the whole message, in bytes.
    ///   - payload: at most `Limits.framePayloadBytes`.
    /// - Returns: header, payload and tag.
    package mutating func seal(
        type: UInt16, flags: FrameHeader.Flags = [], term: UInt32, messageLength: Int,
        payload: UnsafeRawBufferPointer
    ) -> [UInt8] {
        let ends = ends(
            type: type, flags: flags, term: term, messageLength: messageLength,
            payload: FramePayload(count: payload.count, digest: SHA256.digest(of: payload)),
            oldChecksum: { CRC32C.checksum(of: payload) })
        var frame: [UInt8] = []
        frame.reserveCapacity(ends.count + payload.count)
        frame += ends[..<FrameHeader.byteCount]
        frame += payload
        frame += ends[FrameHeader.byteCount...]
        return frame
    }

    /// What surrounds a payload that is already hashed: header and tag, one after the other.
    ///
    /// `oldChecksum` gives the payload's CRC-32C, for a frame of major version 1.
    mutating func ends(
        type: UInt16, flags: FrameHeader.Flags, term: UInt32, messageLength: Int,
        payload: FramePayload, oldChecksum: () -> UInt32
    ) -> [UInt8] {
        precondition(payload.count <= Limits.framePayloadBytes)
        var header = FrameHeader(
            type: type, flags: flags, term: term, sequence: sequence,
            payloadLength: UInt32(payload.count), messageLength: UInt32(messageLength),
            payloadChecksum: major == 1 ? oldChecksum() : payload.digest.payloadChecksum)
        header.major = major
        sequence += 1
        var ends = header.encoded()
        let isGreeting = MessageType(rawValue: type)?.isGreeting ?? false
        if !isGreeting, let tag, tag.covers(type: type) {
            ends += tag.code(header: ends, digest: payload.digest)
            self.tag?.establish()
        }
        return ends
    }
}

/// What tag and header need to know about a frame's payload.
struct FramePayload: Sendable, Equatable {
    var count: Int
    var digest: SHA256.Digest
}
