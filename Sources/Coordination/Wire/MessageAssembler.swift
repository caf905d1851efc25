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
        var bytes: [UInt8]
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
            guard let started = partial else { throw .badChunk(type, .withoutStart) }
            partial = nil
            return try extend(started, type, by: frame)
        }
        guard bounds.allowed.contains(type) else { throw .unexpected(type) }
        let limit = bounds.limit(of: type)
        guard header.messageLength <= limit else {
            throw .messageTooLong(type, limit: limit, found: Int(header.messageLength))
        }
        if type.isUrgent {
            guard !header.flags.contains(.more) else { throw .badChunk(type, .cut) }
        } else {
            guard partial == nil else { throw .badChunk(type, .interleaved) }
        }
        return try proceed(
            Partial(
                type: type, term: header.term, length: header.messageLength,
                bytes: frame.payload),
            header)
    }

    private mutating func extend(
        _ started: consuming Partial, _ type: MessageType, by frame: Frame
    ) throws(WireError) -> ReceivedMessage? {
        let header = frame.header
        guard type == started.type, header.term == started.term,
            header.messageLength == started.length
        else { throw .badChunk(type, .changed) }
        let whole = started.bytes.count + frame.payload.count
        guard whole <= started.length else { throw .badChunk(type, .wrongLength) }
        if whole > started.bytes.capacity {
            // What was announced may never come: grow with what came.
            started.bytes.reserveCapacity(min(2 * whole, Int(started.length)))
        }
        started.bytes += frame.payload
        return try proceed(started, header)
    }

    /// Keeps the message for its next chunk, or decodes it.
    private mutating func proceed(
        _ message: consuming Partial, _ header: FrameHeader
    ) throws(WireError) -> ReceivedMessage? {
        let type = message.type
        let count = message.bytes.count
        if header.flags.contains(.more) {
            guard header.payloadLength > 0 else { throw .badChunk(type, .empty) }
            guard count < message.length else { throw .badChunk(type, .wrongLength) }
            partial = message
            return nil
        }
        guard count == message.length else { throw .badChunk(type, .wrongLength) }
        return ReceivedMessage(
            message: try Message.decode(type, message.bytes), term: header.term)
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
