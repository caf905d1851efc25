/// What can be wrong with bytes from a peer. After any of these the connection is useless: where
/// the next frame starts is not known.
package enum WireError: Error, Sendable, Equatable {
    // What is wrong with a frame.
    case badMagic(found: UInt32)
    /// The peer speaks another major version, or is not Skein.
    case majorVersion(found: UInt8)
    case badHeader(field: String, found: UInt64)
    case headerChecksum
    case payloadChecksum(sequence: UInt64)
    case payloadTooLong(limit: Int, found: Int)
    /// The frame was made without the session's key, or was changed.
    case badTag(sequence: UInt64)
    /// A frame was lost, repeated or moved.
    case badSequence(expected: UInt64, found: UInt64)

    // What is wrong with the frames of a message.
    case unknownType(UInt16)
    /// The peer may not say this now.
    case unexpected(MessageType)
    case messageTooLong(MessageType, limit: Int, found: Int)
    case badChunk(MessageType, ChunkFault)

    // What is wrong with a message.
    case truncated(MessageType, field: String, needed: Int, left: Int)
    case trailingBytes(MessageType, count: Int)
    case overLimit(MessageType, field: String, limit: Int, found: Int)
    case notPlainText(MessageType, field: String)
    case badValue(MessageType, field: String, found: UInt64)
    case badFileName(MessageType, name: String)

    /// How the chunks of a message can contradict each other.
    package enum ChunkFault: Sendable, Equatable {
        /// A message that must be one frame is not.
        case cut
        /// A continuation of nothing.
        case withoutStart
        /// Another bulky message started before the last one ended.
        case interleaved
        /// Type, length or term differ from the first chunk's.
        case changed
        /// A chunk without content that is followed by others.
        case empty
        /// The chunks together are longer or shorter than announced.
        case wrongLength
    }
}
