/// Puts messages together from the frames of one direction.
public struct MessageAssembler: Sendable {
    /// May change between frames; a message that has started is judged by the bounds of its start.
    public var bounds: MessageBounds
    private var partial: Partial?

    /// A bulky message of which more chunks are to come.
    private struct Partial {
        let type: MessageType
        let term: UInt32
        let length: UInt32
        /// What stands before the field that fills the message to its end.
        var head: [UInt8] = []
        /// That field: the message that is decoded holds this very array.
        var rest: [UInt8] = []

        var count: Int { head.count + rest.count }

        init(_ type: MessageType, _ header: FrameHeader) {
            self.type = type
            term = header.term
            length = header.messageLength
        }

        mutating func append(_ payload: [UInt8]) {
            guard let headByteCount = type.headByteCount else {
                if head.isEmpty { head = payload } else { head += payload }
                return
            }
            let taken = min(headByteCount - head.count, payload.count)
            head += payload[..<taken]
            let needed = rest.count + payload.count - taken
            if needed > rest.capacity {
                // What was announced may never come: grow with what came. Memory that nothing has
                // come for is not touched, so growing in few steps costs no memory, and few copies.
                let most = Int(length) - headByteCount
                rest.reserveCapacity(
                    min(most, max(Limits.firstReserveBytes, Limits.reserveGrowth * needed)))
            }
            rest += payload[taken...]
        }
    }

    public init(bounds: MessageBounds) {
        self.bounds = bounds
    }

    /// Takes the next frame and gives the message that it completes, if it does.
    ///
    /// - Throws: `WireError`; the connection is of no use then.
    public mutating func add(_ frame: Frame) throws(WireError) -> ReceivedMessage? {
        let header = frame.header
        guard let type = MessageType(rawValue: header.type) else {
            if bounds.skipsUnknown, header.flags.contains(.optional) { return nil }
            throw .unknownType(header.type)
        }
        if header.flags.contains(.continuation) {
            try extend(type, by: frame)
            return try finish(header)
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
                message: try Message.decode(type, frame.payload), term: header.term)
        }
        guard partial == nil else { throw .badChunk(type, .interleaved) }
        guard frame.payload.count <= header.messageLength else {
            throw .badChunk(type, .wrongLength)
        }
        partial = Partial(type, header)
        partial?.append(frame.payload)
        return try finish(header)
    }

    /// Adds a chunk where the message lies: a copy of it would be a copy of all that has come.
    private mutating func extend(_ type: MessageType, by frame: Frame) throws(WireError) {
        let header = frame.header
        guard let count = partial?.count, let length = partial?.length else {
            throw .badChunk(type, .withoutStart)
        }
        guard type == partial?.type, header.term == partial?.term, header.messageLength == length
        else { throw .badChunk(type, .changed) }
        guard count + frame.payload.count <= length else { throw .badChunk(type, .wrongLength) }
        partial?.append(frame.payload)
    }

    /// Waits for the next chunk, or decodes the message that is complete.
    private mutating func finish(_ header: FrameHeader) throws(WireError) -> ReceivedMessage? {
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
            term: header.term)
    }
}

/// A message with the term of its frames.
public struct ReceivedMessage: Sendable, Equatable {
    public var message: Message
    public var term: UInt32

    public init(message: Message, term: UInt32) {
        self.message = message
        self.term = term
    }
}
