import SkeinBasics

/// Finds the frames in one direction of a connection, however the bytes are cut, and checks them.
///
/// Holds at most one frame, the message that it continues and what the last `append` brought: while
/// the peer is unknown, append little at a time and take all frames out in between.
package struct FrameOpener: Sendable {
    private var tag: FrameTag?
    private var sequence: UInt64 = 0
    /// Bytes from `position` on belong to no frame yet.
    private var input: [UInt8] = []
    private var position = 0
    private var current: Partial?
    private var failure: WireError?
    /// See `resume`.
    private var begun: BegunMessage?

    /// A frame whose header has come.
    private struct Partial {
        let header: FrameHeader
        let headerBytes: [UInt8]
        let tagByteCount: Int
        /// Where the frame's own bytes start in `payload`.
        let start: Int
        /// The part that has come.
        var payload: [UInt8]
        var tag: [UInt8] = []
        var hash = SHA256()

        var missingPayload: Int { Int(header.payloadLength) - (payload.count - start) }
        var missing: Int { missingPayload + tagByteCount - tag.count }

        /// `begun` has room for the payload; without it the payload gets its own array.
        init(_ header: FrameHeader, _ bytes: [UInt8], tagByteCount: Int, onto begun: [UInt8]?) {
            self.header = header
            headerBytes = bytes
            self.tagByteCount = tagByteCount
            start = begun?.count ?? 0
            payload = begun ?? []
            if begun == nil { payload.reserveCapacity(Int(header.payloadLength)) }
        }

        /// Takes what belongs to this frame from the front of `bytes`, and hashes it while the
        /// caches still have it.
        mutating func take(from bytes: inout UnsafeRawBufferPointer) {
            let payloadBytes = min(missingPayload, bytes.count)
            if payloadBytes > 0 {
                let taken = UnsafeRawBufferPointer(rebasing: bytes[..<payloadBytes])
                payload.append(contentsOf: taken)
                hash.update(taken)
            }
            let tagBytes = min(tagByteCount - tag.count, bytes.count - payloadBytes)
            if tagBytes > 0 { tag += bytes[payloadBytes..<payloadBytes + tagBytes] }
            bytes = UnsafeRawBufferPointer(rebasing: bytes[(payloadBytes + tagBytes)...])
        }

        /// Lets `read` fill room for `count` bytes of the payload, or less.
        mutating func fill(_ count: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int) {
            var hash = hash
            payload.append(addingCapacity: count) { span in
                span.withUnsafeMutableBufferPointer { room, filled in
                    let room = UnsafeMutableRawBufferPointer(room)
                    filled = read(room)
                    precondition(0...count ~= filled)
                    hash.update(UnsafeRawBufferPointer(rebasing: room[..<filled]))
                }
            }
            self.hash = hash
        }
    }

    package init() {}

    /// Lets the next chunk of a message follow what has come of it in one array, which grows in
    /// place, instead of one of its own that would have to be copied.
    mutating func resume(_ message: consuming BegunMessage) {
        begun = message
    }

    /// Demands a tag of all frames that `next` has not looked at yet, except a REJECTION that comes
    /// first.
    package mutating func authenticate(with key: FrameKey) {
        precondition(current == nil, "in the middle of a frame")
        tag = FrameTag(key: key)
    }

    /// Appends bytes as they come from the socket. Nothing is kept after an error.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if failure != nil { return }
        var rest = bytes
        if position == input.count {
            input.removeAll(keepingCapacity: true)
            position = 0
            // Inside a frame, its bytes go to their final place.
            current?.take(from: &rest)
        } else if position > input.count / 2 {
            input.removeSubrange(..<position)
            position = 0
        }
        input.append(contentsOf: rest)
    }

    /// Bytes that have come and are of no whole frame yet.
    var heldBytes: Int {
        input.count - position + (current?.payload.count ?? 0) + (begun?.bytes.count ?? 0)
    }

    /// Bytes that `fill` takes: the missing ones of a begun payload; 0 while there are bytes that
    /// `next` has not looked at.
    package var missingPayload: Int {
        position == input.count ? current?.missingPayload ?? 0 : 0
    }

    /// Lets `read` put bytes straight into their final place, where `append` would copy them.
    ///
    /// - Parameters:
    ///   - count: 1 ... `missingPayload`.
    ///   - read: gets room for `count` bytes and returns how many it has filled.
    package mutating func fill(_ count: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int) {
        precondition(1...missingPayload ~= count)
        current?.fill(count, read)
    }

    /// The next whole frame, or nil when more bytes are needed.
    ///
    /// - Throws: `WireError`, and the same one ever after.
    package mutating func next() throws(WireError) -> Frame? {
        if let failure { throw failure }
        do {
            return try advance()
        } catch {
            failure = error
            input = []
            position = 0
            current = nil
            begun = nil
            throw error
        }
    }

    private mutating func advance() throws(WireError) -> Frame? {
        if current == nil, !(try startFrame()) { return nil }
        if position < input.count {
            position += input.withUnsafeBytes { input in
                var rest = UnsafeRawBufferPointer(rebasing: input[position...])
                current?.take(from: &rest)
                return input.count - position - rest.count
            }
        }
        guard let whole = current, whole.missing == 0 else { return nil }
        current = nil
        return try check(whole)
    }

    /// Reads a header. All lengths in it are checked before anything is reserved.
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
        let isTagged = tag?.covers(type: header.type) ?? false
        current = Partial(
            header, Array(bytes), tagByteCount: isTagged ? FrameTag.byteCount : 0,
            onto: takeBegun(for: header))
        position += FrameHeader.byteCount
        sequence += 1
        return true
    }

    /// What a frame continues. Nothing is moved or grown for a frame that may be another's, or
    /// longer than what was announced: its header is not yet proved.
    private mutating func takeBegun(for header: FrameHeader) -> [UInt8]? {
        guard header.flags.contains(.continuation), header.type == begun?.type,
            Int(header.payloadLength) <= begun?.missing ?? 0
        else { return nil }
        var taken: BegunMessage?
        swap(&taken, &begun)
        return taken?.bytes
    }

    private mutating func check(_ partial: consuming Partial) throws(WireError) -> Frame {
        let header = partial.header
        let digest = partial.hash.finish()
        guard digest.payloadChecksum == header.payloadChecksum else {
            throw .payloadChecksum(sequence: header.sequence)
        }
        if partial.tagByteCount > 0, let tag {
            let code = tag.code(header: partial.headerBytes, digest: digest)
            guard MessageAuthentication.areEqual(Array(code), partial.tag) else {
                throw .badTag(sequence: header.sequence)
            }
            self.tag?.establish()
        }
        var frame = Frame(header: header, payload: partial.payload)
        frame.start = partial.start
        frame.isTagged = partial.tagByteCount > 0
        return frame
    }
}
