/// Finds the frames in one direction of a connection, however the bytes are cut, and checks them.
///
/// Holds at most one frame and what the last `append` brought: as long as the peer is not known,
/// append little at a time (16 KiB) and take all frames out in between.
public struct FrameOpener: Sendable {
    private var tag: FrameTag?
    private var sequence: UInt64 = 0
    /// Bytes from `position` on belong to no frame yet.
    private var input: [UInt8] = []
    private var position = 0
    private var current: Partial?
    private var failure: WireError?

    /// A frame whose header has come.
    private struct Partial {
        let header: FrameHeader
        let headerBytes: [UInt8]
        let isTagged: Bool
        /// Payload and tag, as far as they have come.
        var body: [UInt8] = []

        var missing: Int {
            Int(header.payloadLength) + (isTagged ? FrameTag.byteCount : 0) - body.count
        }
    }

    public init() {}

    /// Demands a tag of all frames that `next` has not looked at yet, but of a REJECTION that comes
    /// first.
    public mutating func authenticate(with key: FrameKey) {
        precondition(current == nil, "in the middle of a frame")
        tag = FrameTag(key: key)
    }

    /// Appends bytes as they come from the socket. Nothing is kept after an error.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if failure != nil { return }
        var rest = bytes
        if position == input.count {
            input.removeAll(keepingCapacity: true)
            position = 0
            // Inside of a frame, its bytes go where they are to stay.
            let taken = min(current?.missing ?? 0, rest.count)
            current?.body.append(contentsOf: rest[..<taken])
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
        } else if position > input.count / 2 {
            input.removeSubrange(..<position)
            position = 0
        }
        input.append(contentsOf: rest)
    }

    /// The next whole frame, or nil when more bytes are needed.
    ///
    /// - Throws: `WireError`, and the same one ever after.
    public mutating func next() throws(WireError) -> Frame? {
        if let failure { throw failure }
        do {
            return try advance()
        } catch {
            failure = error
            input = []
            position = 0
            current = nil
            throw error
        }
    }

    private mutating func advance() throws(WireError) -> Frame? {
        if current == nil, !(try startFrame()) { return nil }
        let taken = min(current?.missing ?? 0, input.count - position)
        current?.body.append(contentsOf: input[position..<position + taken])
        position += taken
        guard let whole = current, whole.missing == 0 else { return nil }
        current = nil
        return try check(whole)
    }

    /// Reads a header. All that it says about lengths is checked before anything is reserved.
    private mutating func startFrame() throws(WireError) -> Bool {
        let bytes = input[position...].prefix(FrameHeader.byteCount)
        let header = try bytes.withUnsafeBufferPointer {
            (buffer) throws(WireError) -> FrameHeader? in
            let raw = UnsafeRawBufferPointer(buffer)
            try FrameHeader.checkStart(raw)
            return raw.count == FrameHeader.byteCount ? try FrameHeader(raw) : nil
        }
        guard let header else { return false }
        let limit = tag == nil ? Limits.greetingBytes : Limits.framePayloadBytes
        guard header.payloadLength <= limit else {
            throw .payloadTooLong(limit: limit, found: Int(header.payloadLength))
        }
        guard header.sequence == sequence else {
            throw .badSequence(expected: sequence, found: header.sequence)
        }
        var partial = Partial(
            header: header, headerBytes: Array(bytes),
            isTagged: tag?.covers(type: header.type) ?? false)
        partial.body.reserveCapacity(partial.missing)
        current = partial
        position += FrameHeader.byteCount
        sequence += 1
        return true
    }

    private mutating func check(_ partial: consuming Partial) throws(WireError) -> Frame {
        let header = partial.header
        let headerBytes = partial.headerBytes
        let isTagged = partial.isTagged
        var payload = partial.body
        partial.body = []
        let length = Int(header.payloadLength)
        let received = Array(payload[length...])
        payload.removeLast(payload.count - length)
        guard CRC32C.checksum(of: payload) == header.payloadChecksum else {
            throw .payloadChecksum(sequence: header.sequence)
        }
        if isTagged, let tag {
            let code = headerBytes.withUnsafeBytes { head in
                payload.withUnsafeBytes { tag.code(header: head, payload: $0) }
            }
            guard MessageAuthentication.areEqual(code, received) else {
                throw .badTag(sequence: header.sequence)
            }
            self.tag?.establish()
        }
        return Frame(header: header, payload: payload)
    }
}
