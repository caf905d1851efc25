/// Puts messages together from the frames of one direction.
package struct MessageAssembler: Sendable {
    /// May change between frames; a message that has begun is judged by the bounds of its start.
    package var bounds: MessageBounds

    /// Bytes of the message that has begun.
    var heldBytes: Int { partial?.count ?? 0 }

    private var partial: Partial?

    /// A bulky message with more chunks to come.
    private struct Partial {
        let type: MessageType
        let term: UInt32
        let length: UInt32
        /// What precedes the field that fills the message to its end.
        var head: [UInt8] = []
        /// That field: the decoded message holds this very array. Empty while it is lent.
        var rest: [UInt8] = []
        /// How much of `rest` is lent.
        var lentCount: Int?

        var count: Int { head.count + (lentCount ?? rest.count) }

        init(_ type: MessageType, _ header: FrameHeader) {
            self.type = type
            term = header.term
            length = header.messageLength
        }

        /// Takes the bytes of the next chunk.
        mutating func take(_ frame: consuming Frame) {
            precondition(frame.start == lentCount ?? 0, "not the array that was lent")
            guard lentCount != nil else { return append(frame.payload) }
            self.lentCount = nil
            rest = frame.payload
        }

        private mutating func append(_ payload: [UInt8]) {
            guard let headByteCount = type.headByteCount else {
                if head.isEmpty { head = payload } else { head += payload }
                return
            }
            let taken = min(headByteCount - head.count, payload.count)
            head += payload[..<taken]
            reserve(payload.count - taken)
            rest += payload[taken...]
        }

        /// Makes room for `more` bytes of the rest.
        private mutating func reserve(_ more: Int) {
            let needed = rest.count + more
            guard needed > rest.capacity, let headByteCount = type.headByteCount else { return }
            // What was announced may never come: grow with what came, and a chunk. Memory that is
            // not written to costs nothing, so growing in few steps costs only few copies.
            let most = Int(length) - headByteCount
            rest.reserveCapacity(
                min(most, max(Limits.firstReserveBytes, Limits.reserveGrowth * needed)))
        }

        /// The rest so far, with room for a chunk.
        mutating func lend() -> BegunMessage? {
            guard let headByteCount = type.headByteCount, head.count == headByteCount,
                lentCount == nil
            else { return nil }
            let missing = Int(length) - count
            reserve(min(missing, Limits.framePayloadBytes))
            lentCount = rest.count
            var lent: [UInt8] = []
            swap(&lent, &rest)
            return BegunMessage(type: type.rawValue, bytes: lent, missing: missing)
        }
    }

    package init(bounds: MessageBounds) {
        self.bounds = bounds
    }

    /// What has come of a message whose next chunk is awaited, for the opener to write that chunk
    /// after it; its frame brings it back. nil when there is none, or its head is not complete.
    mutating func lend() -> BegunMessage? { partial?.lend() }

    /// Takes the next frame and returns the message that it completes, if any.
    ///
    /// - Throws: `WireError`; the connection is useless then.
    package mutating func add(_ frame: consuming Frame) throws(WireError) -> ReceivedMessage? {
        let (header, isTagged) = (frame.header, frame.isTagged)
        guard let type = MessageType(rawValue: header.type) else {
            if bounds.skipsUnknown, header.flags.contains(.optional) {
                return nil
            }
            throw .unknownType(header.type)
        }
        if header.flags.contains(.continuation) {
            try extend(type, by: frame)
            return try finish(header, isTagged)
        }
        guard bounds.allowed.contains(type) else { throw .unexpected(type) }
        let limit = bounds.limit(of: type)
        guard header.messageLength <= limit else {
            throw .messageTooLong(type, limit: limit, found: Int(header.messageLength))
        }
        if type.isUrgent {
            guard !header.flags.contains(.more) else { throw .badChunk(type, .cut) }
            guard frame.payload.count == header.messageLength else {
                throw .badChunk(type, .wrongLength)
            }
            return ReceivedMessage(
                message: try Message.decode(type, frame.payload), term: header.term,
                isTagged: isTagged)
        }
        guard partial == nil else { throw .badChunk(type, .interleaved) }
        guard frame.payload.count <= header.messageLength else {
            throw .badChunk(type, .wrongLength)
        }
        partial = Partial(type, header)
        partial?.take(frame)
        return try finish(header, isTagged)
    }

    /// Adds a chunk in place: a copy of the message would copy all that has come.
    private mutating func extend(
        _ type: MessageType, by frame: consuming Frame
    ) throws(WireError) {
        let header = frame.header
        guard let count = partial?.count, let length = partial?.length else {
            throw .badChunk(type, .withoutStart)
        }
        guard type == partial?.type, header.term == partial?.term, header.messageLength == length
        else { throw .badChunk(type, .changed) }
        guard count + frame.payload.count - frame.start <= length else {
            throw .badChunk(type, .wrongLength)
        }
        partial?.take(frame)
    }

    /// Waits for the next chunk, or decodes the message that is complete.
    private mutating func finish(
        _ header: FrameHeader, _ isTagged: Bool
    ) throws(WireError) -> ReceivedMessage? {
        guard let type = partial?.type, let count = partial?.count else { return nil }
        if header.flags.contains(.more) {
            guard header.payloadLength > 0 else { throw .badChunk(type, .empty) }
            guard count < header.messageLength else { throw .badChunk(type, .wrongLength) }
            return nil
        }
        guard count == header.messageLength, let whole = partial else {
            throw .badChunk(type, .wrongLength)
        }
        partial = nil
        return ReceivedMessage(
            message: try Message.decode(type, head: whole.head, tail: whole.rest),
            term: header.term, isTagged: isTagged)
    }
}

/// What has come of a message in chunks.
struct BegunMessage: Sendable {
    let type: UInt16
    /// With room for the next chunk.
    let bytes: [UInt8]
    /// Bytes still missing.
    let missing: Int
}

/// A message with the term of its frames.
package struct ReceivedMessage: Sendable, Equatable {
    package var message: Message
    package var term: UInt32
    /// Whether tags prove that its sender knows the session's key: any process can say what has none.
    package var isTagged: Bool

    package init(message: Message, term: UInt32, isTagged: Bool = true) {
        self.message = message
        self.term = term
        self.isTagged = isTagged
    }
}
