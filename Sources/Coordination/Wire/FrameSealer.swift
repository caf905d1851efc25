/// Makes the frames of one direction of a connection.
public struct FrameSealer: Sendable {
    private var tag: FrameTag?
    private var sequence: UInt64 = 0

    public init() {}

    /// Puts a tag on all frames from here on, but on HELLO, CHALLENGE, AUTHENTICATION, and on a
    /// REJECTION that comes first.
    public mutating func authenticate(with key: FrameKey) {
        tag = FrameTag(key: key)
    }

    /// Makes a frame. Frames must go out in the order in which they were sealed.
    ///
    /// - Parameters:
    ///   - type: a `MessageType`, or a number that the receiver may not know.
    ///   - flags: where the frame stands in its message.
    ///   - term: the coordinator's, 0 before it is known.
    ///   - messageLength: of the whole message, in bytes.
    ///   - payload: at most `Limits.framePayloadBytes`.
    /// - Returns: header, payload and tag.
    public mutating func seal(
        type: UInt16, flags: FrameHeader.Flags = [], term: UInt32, messageLength: Int,
        payload: UnsafeRawBufferPointer
    ) -> [UInt8] {
        precondition(payload.count <= Limits.framePayloadBytes)
        let header = FrameHeader(
            type: type, flags: flags, term: term, sequence: sequence,
            payloadLength: UInt32(payload.count), messageLength: UInt32(messageLength),
            payloadChecksum: CRC32C.checksum(of: payload))
        sequence += 1
        let isGreeting = MessageType(rawValue: type)?.isGreeting ?? false
        let isTagged = !isGreeting && tag?.covers(type: type) ?? false
        let whole = FrameHeader.byteCount + payload.count
        let frame = [UInt8](
            unsafeUninitializedCapacity: whole + (isTagged ? FrameTag.byteCount : 0)
        ) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            header.write(to: bytes)
            UnsafeMutableRawBufferPointer(rebasing: bytes[FrameHeader.byteCount..<whole])
                .copyMemory(from: payload)
            count = whole
            if isTagged, let tag {
                let code = tag.code(
                    header: UnsafeRawBufferPointer(rebasing: bytes[..<FrameHeader.byteCount]),
                    payload: payload)
                bytes[whole...].copyBytes(from: code)
                count += FrameTag.byteCount
            }
        }
        if isTagged { tag?.establish() }
        return frame
    }
}
