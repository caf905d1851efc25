import SkeinBasics

/// A message that is ready to be sent. One value serves any number of connections: they share its
/// bytes and its digests, so that one more peer costs a short code for each frame.
package struct EncodedMessage: Sendable, Equatable {
    package let type: MessageType
    /// All fields but the last one.
    let head: [UInt8]
    /// What fills the message to its end: the message's own bytes, not a copy of them.
    let rest: [UInt8]
    /// SHA-256 of each frame's payload, in order.
    private let digests: [SHA256.Digest]

    /// Hashes the whole message: 0.4 ms for each megabyte, so a large one is best made off the
    /// network's thread.
    package init(_ message: Message) {
        type = message.type
        (head, rest) = message.parts()
        let count = head.count + rest.count
        precondition(!type.isUrgent || count <= Limits.framePayloadBytes)
        precondition(count <= UInt32.max, "a message that is too long for the wire")
        digests = Self.digests(of: Self.ranges(count), head: head, rest: rest)
    }

    /// SHA-256 of each of these parts of a message, two at a time.
    private static func digests(
        of ranges: [Range<Int>], head: [UInt8], rest: [UInt8]
    ) -> [SHA256.Digest] {
        head.withUnsafeBytes { head in
            rest.withUnsafeBytes { rest in
                var hashes = ranges.map { range in
                    var hash = SHA256()
                    let part = range.clamped(to: 0..<head.count)
                    hash.update(UnsafeRawBufferPointer(rebasing: head[part]))
                    return hash
                }
                let bodies = ranges.map { range in
                    let part = range.clamped(to: head.count..<head.count + rest.count)
                    return UnsafeRawBufferPointer(
                        rebasing: rest[part.lowerBound - head.count..<part.upperBound - head.count])
                }
                for index in stride(from: 0, to: ranges.count - 1, by: 2) {
                    var (one, two) = (hashes[index], hashes[index + 1])
                    SHA256.update(&one, bodies[index], &two, bodies[index + 1])
                    (hashes[index], hashes[index + 1]) = (one, two)
                }
                if ranges.count % 2 == 1, let last = bodies.last {
                    hashes[ranges.count - 1].update(last)
                }
                return hashes.map { $0.finish() }
            }
        }
    }

    /// Bytes of the whole message.
    package var count: Int { head.count + rest.count }

    /// The whole message in one piece: a copy.
    package var bytes: [UInt8] { head + rest }

    /// The payloads of its frames, at least one.
    private static func ranges(_ count: Int) -> [Range<Int>] {
        guard count > 0 else { return [0..<0] }
        return stride(from: 0, to: count, by: Limits.framePayloadBytes).map {
            $0..<min($0 + Limits.framePayloadBytes, count)
        }
    }

    /// Length and digest of the payload that begins at byte `start`.
    func payload(from start: Int) -> FramePayload {
        FramePayload(
            count: min(Limits.framePayloadBytes, count - start),
            digest: digests[start / Limits.framePayloadBytes])
    }

    /// Calls `body` with the bytes of a range, in order: at most two pieces.
    func withPieces(of range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        EncodedPieces(head: head, rest: rest).withPieces(of: range, body)
    }
}

/// The two parts of a message as one sequence of bytes.
private struct EncodedPieces {
    let head: [UInt8]
    let rest: [UInt8]

    func withPieces(of range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        let inHead = range.clamped(to: 0..<head.count)
        if !inHead.isEmpty {
            head.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[inHead])) }
        }
        let inRest = range.clamped(to: head.count..<head.count + rest.count)
        if !inRest.isEmpty {
            let start = inRest.lowerBound - head.count
            rest.withUnsafeBytes {
                body(UnsafeRawBufferPointer(rebasing: $0[start..<start + inRest.count]))
            }
        }
    }
}

/// A frame on its way out: its own header and tag, and a part of a message that others may share.
package struct OutboundFrame: Sendable {
    /// Header and tag, one after the other.
    private let ends: [UInt8]
    private let message: EncodedMessage
    private let payload: Range<Int>
    private let isShared: Bool

    init(ends: [UInt8], message: EncodedMessage, payload: Range<Int>, isShared: Bool) {
        self.isShared = isShared
        self.ends = ends
        self.message = message
        self.payload = payload
    }

    /// Bytes on the wire.
    package var count: Int { ends.count + payload.count }

    /// Bytes of its message if that is this connection's alone, and if others may share it.
    package var ownBytes: Int { isShared ? ends.count : ends.count + payload.count }
    package var sharedBytes: Int { isShared ? message.count : 0 }

    /// The most pieces that `withPieces` gives.
    package static let mostPieces = 4

    /// Calls `body` with what is left after the first `written` bytes, in order: header, payload
    /// and tag, none of them copied. The pointers are valid until this returns.
    package func withPieces<Result>(
        after written: Int, _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Result
    ) -> Result {
        ends.withUnsafeBytes { ends in
            message.head.withUnsafeBytes { head in
                message.rest.withUnsafeBytes { rest in
                    let middle = message.head.count
                    let inHead = payload.clamped(to: 0..<middle)
                    let inRest = payload.clamped(to: middle..<message.count)
                    let all = [
                        ends[..<FrameHeader.byteCount], head[inHead],
                        rest[(inRest.lowerBound - middle)..<(inRest.upperBound - middle)],
                        ends[FrameHeader.byteCount...],
                    ]
                    var skipped = written
                    let pieces = all.compactMap { piece -> UnsafeRawBufferPointer? in
                        let skip = min(skipped, piece.count)
                        skipped -= skip
                        guard piece.count > skip else { return nil }
                        return UnsafeRawBufferPointer(rebasing: piece.dropFirst(skip))
                    }
                    return pieces.withUnsafeBufferPointer(body)
                }
            }
        }
    }

    /// The whole frame in one piece: a copy.
    package var bytes: [UInt8] {
        withPieces(after: 0) { pieces in pieces.flatMap { $0 } }
    }
}
