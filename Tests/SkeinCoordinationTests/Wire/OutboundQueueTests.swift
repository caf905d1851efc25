import Testing

@testable import SkeinCoordination

@Suite("queues of a connection")
struct OutboundQueueTests {
    private let key = FrameKey(bytes: Array(0..<32))

    private func update(_ version: UInt64, _ count: Int) -> Message {
        .parameters(
            ParameterUpdate(
                version: version, base: 0, digest: [UInt8](repeating: 0, count: 32),
                payload: [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: count)))
    }

    private func reader() -> InboundQueue {
        InboundQueue(
            bounds: MessageBounds(
                allowed: Set(MessageType.allCases), gradientPayloadBytes: 8 << 20,
                parameterPayloadBytes: 8 << 20))
    }

    @Test("urgent messages overtake between chunks, and bulky ones keep their order")
    func order() throws {
        var out = OutboundQueue()
        var reader = reader()
        out.authenticate(with: key)
        reader.authenticate(with: key)
        let beat = Message.heartbeat(Heartbeat())
        let cancellation = Message.cancellation(Cancellation(key: WorkKey(round: 1, index: 1)))
        out.add(update(1, 5 << 19), term: 4)
        out.add(update(2, 10), term: 4)
        var received: [Message] = []
        var frames = 0
        while let frame = out.nextFrame() {
            frames += 1
            if frames == 1 { out.add(beat, term: 4) }
            if frames == 3 {
                out.add(cancellation, term: 4)
                out.add(beat, term: 4)
            }
            frame.bytes.withUnsafeBytes { reader.append($0) }
            while let message = try reader.next() {
                #expect(message.term == 4)
                received.append(message.message)
            }
        }
        #expect(received == [beat, cancellation, beat, update(1, 5 << 19), update(2, 10)])
        #expect(frames == 7)
        #expect(out.isEmpty)
    }

    @Test("what others share counts apart from what a queue has alone, until it has left")
    func shares() {
        var out = OutboundQueue()
        #expect(out.ownBytes == 0 && out.sharedBytes == 0 && !out.hasUrgent)
        let whole = EncodedMessage(update(1, 5 << 19))
        out.add(whole, term: 4)
        #expect(out.ownBytes == Limits.queuedBytes && out.sharedBytes == whole.count)
        let own = EncodedMessage(update(2, 1000))
        out.add(own, term: 4, isShared: false)
        #expect(
            out.ownBytes == 2 * Limits.queuedBytes + FrameHeader.byteCount + own.count)
        // Two of three frames: all of the message is still kept.
        for _ in 0..<2 {
            let frame = out.nextFrame()
            #expect(frame?.sharedBytes == whole.count)
        }
        #expect(out.sharedBytes == whole.count)
        _ = out.nextFrame()
        #expect(out.sharedBytes == 0)
        let last = out.nextFrame()
        #expect(last?.sharedBytes == 0 && (last?.ownBytes ?? 0) > own.count)
        #expect(out.ownBytes == 0 && out.isEmpty)
    }

    @Test("without its bulky messages a queue ends with the last urgent one")
    func lastWords() throws {
        var out = OutboundQueue()
        var reader = reader()
        out.authenticate(with: key)
        reader.authenticate(with: key)
        let beat = Message.heartbeat(Heartbeat())
        out.add(update(1, 5 << 19), term: 0)
        try out.nextFrame().found().bytes.withUnsafeBytes { reader.append($0) }
        out.add(beat, term: 0)
        out.add(update(2, 10), term: 0)
        out.dropBulky()
        out.add(.statusRequest, term: 0)
        var received: [Message] = []
        while let frame = out.nextFrame() {
            frame.bytes.withUnsafeBytes { reader.append($0) }
            while let message = try reader.next() { received.append(message.message) }
        }
        #expect(received == [beat, .statusRequest])
    }

    @Test("pending bytes go down to nothing as frames go out")
    func pendingBytes() {
        var out = OutboundQueue()
        #expect(out.pendingBytes == 0)
        out.add(update(1, (1 << 20) - 48 + 5), term: 0)
        out.add(.statusRequest, term: 0)
        #expect(out.pendingBytes == (1 << 20) + 5 + 80)
        #expect(out.nextFrame()?.count == 40)
        #expect(out.pendingBytes == (1 << 20) + 45)
        #expect(out.nextFrame()?.count == (1 << 20) + 40)
        #expect(out.pendingBytes == 45)
        #expect(!out.isEmpty)
        #expect(out.nextFrame()?.count == 45)
        #expect(out.pendingBytes == 0)
        #expect(out.nextFrame() == nil)
    }

    @Test("a message of whole chunks has no empty chunk at its end")
    func wholeChunks() throws {
        var out = OutboundQueue()
        out.authenticate(with: key)
        var reader = reader()
        reader.authenticate(with: key)
        let message = update(3, (2 << 20) - 48)
        out.add(message, term: 1)
        var found: [Message] = []
        for _ in 0..<2 {
            try out.nextFrame().found().bytes.withUnsafeBytes { reader.append($0) }
            while let next = try reader.next() { found.append(next.message) }
        }
        #expect(out.nextFrame() == nil)
        #expect(found == [message])
    }

    @Test("many messages pass in order through one queue")
    func many() throws {
        var out = OutboundQueue()
        var reader = reader()
        var expected: UInt64 = 1
        for version in UInt64(1)...1000 {
            out.add(update(version, 3), term: 0)
            if version % 3 == 0 { continue }
            try out.nextFrame().found().bytes.withUnsafeBytes { reader.append($0) }
            #expect(try reader.next()?.message == update(expected, 3))
            expected += 1
        }
        while let frame = out.nextFrame() {
            frame.bytes.withUnsafeBytes { reader.append($0) }
            #expect(try reader.next()?.message == update(expected, 3))
            expected += 1
        }
        #expect(expected == 1001)
    }

    @Test("one encoded message serves many queues")
    func shared() throws {
        let encoded = EncodedMessage(update(9, 100))
        let frames = (0..<64).map { _ in
            var out = OutboundQueue()
            out.add(encoded, term: 2)
            return out.nextFrame()?.bytes
        }
        #expect(Set(frames).count == 1)
        var reader = reader()
        try frames[0].found().withUnsafeBytes { reader.append($0) }
        #expect(try reader.next()?.message == update(9, 100))
    }
}
