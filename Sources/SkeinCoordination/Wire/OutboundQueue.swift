import SkeinBasics

/// Messages in, frames out, in the order that keeps heartbeats on time: urgent messages overtake
/// bulky ones, also between their chunks. Each frame is sealed when it is asked for, so that
/// sequence numbers rise in the order of the wire.
package struct OutboundQueue: Sendable {
    private var sealer = FrameSealer()
    private var urgent = Fifo()
    private var bulky = Fifo()

    package init() {}

    /// Bytes of messages that are not in frames yet, and 40 more for each message. A frame from
    /// `nextFrame` no longer counts.
    package var pendingBytes: Int { urgent.byteCount + bulky.byteCount }

    package var isEmpty: Bool { urgent.first == nil && bulky.first == nil }

    /// Whether an urgent message waits.
    package var hasUrgent: Bool { urgent.first != nil }

    /// Bytes of memory that are this queue's alone: messages that it does not share, and for each
    /// message what keeping it costs.
    package var ownBytes: Int { urgent.ownBytes + bulky.ownBytes }

    /// Bytes of waiting messages that other queues may share, of which this one keeps each whole.
    package var sharedBytes: Int { urgent.sharedBytes + bulky.sharedBytes }

    /// Puts a message into its queue.
    ///
    /// - Parameters:
    ///   - message: what to say.
    ///   - term: the coordinator's, 0 before it is known.
    package mutating func add(_ message: Message, term: UInt32) {
        add(EncodedMessage(message), term: term, isShared: false)
    }

    /// Puts a message into its queue; `isShared`: others may have it, too.
    package mutating func add(_ message: EncodedMessage, term: UInt32, isShared: Bool = true) {
        let waiting = QueuedMessage(message: message, term: term, isShared: isShared)
        if message.type.isUrgent { urgent.append(waiting) } else { bulky.append(waiting) }
    }

    /// Drops the waiting bulky messages, so that an urgent one added now is the last to go out. A
    /// message that is partly sent stays without its end, so only last words may follow.
    package mutating func dropBulky() {
        bulky = Fifo()
    }

    /// Puts tags on the frames from here on; see `FrameSealer`. A waiting AUTHENTICATION goes out
    /// without one, as it must.
    package mutating func authenticate(with key: FrameKey) {
        sealer.authenticate(with: key)
    }

    /// Makes the frames from here on for a peer of an older major version.
    package mutating func speak(major: UInt8) {
        sealer.speak(major: major)
    }

    /// The next frame to write, to be written whole and before any later one; nil when nothing
    /// waits.
    package mutating func nextFrame() -> OutboundFrame? {
        if let next = urgent.first {
            urgent.removeFirst()
            return seal(next, 0..<next.message.count)
        }
        guard let next = bulky.first else { return nil }
        let count = next.message.count
        let end = min(next.sent + Limits.framePayloadBytes, count)
        if end == count { bulky.removeFirst() } else { bulky.advanceFirst(to: end) }
        return seal(next, next.sent..<end)
    }

    private mutating func seal(_ waiting: QueuedMessage, _ range: Range<Int>) -> OutboundFrame {
        let message = waiting.message
        var flags: FrameHeader.Flags = []
        if range.lowerBound > 0 { flags.insert(.continuation) }
        if range.upperBound < message.count { flags.insert(.more) }
        let ends = sealer.ends(
            type: message.type.rawValue, flags: flags, term: waiting.term,
            messageLength: message.count, payload: message.payload(from: range.lowerBound),
            oldChecksum: {
                var checksum = CRC32C()
                message.withPieces(of: range) { checksum.update($0) }
                return checksum.value
            })
        return OutboundFrame(
            ends: ends, message: message, payload: range, isShared: waiting.isShared)
    }
}

/// A message and how much of it has gone out.
private struct QueuedMessage: Sendable {
    let message: EncodedMessage
    let term: UInt32
    let isShared: Bool
    var sent = 0

    var byteCount: Int { FrameHeader.byteCount + message.count - sent }
    var ownBytes: Int { (isShared ? 0 : byteCount) + Limits.queuedBytes }
    var sharedBytes: Int { isShared ? message.count : 0 }
}

/// First in, first out. Places at the front are left empty and freed from time to time.
private struct Fifo: Sendable {
    private var places: [QueuedMessage?] = []
    private var head = 0
    private(set) var byteCount = 0
    private(set) var ownBytes = 0
    private(set) var sharedBytes = 0

    var first: QueuedMessage? { head < places.count ? places[head] : nil }

    mutating func append(_ waiting: QueuedMessage) {
        places.append(waiting)
        count(waiting, 1)
    }

    private mutating func count(_ waiting: QueuedMessage, _ sign: Int) {
        byteCount += sign * waiting.byteCount
        ownBytes += sign * waiting.ownBytes
        sharedBytes += sign * waiting.sharedBytes
    }

    mutating func removeFirst() {
        if let first { count(first, -1) }
        places[head] = nil
        head += 1
        if head * 2 >= places.count {
            places.removeSubrange(..<head)
            head = 0
        }
    }

    mutating func advanceFirst(to sent: Int) {
        guard var waiting = first else { return }
        count(waiting, -1)
        waiting.sent = sent
        count(waiting, 1)
        places[head] = waiting
    }
}
