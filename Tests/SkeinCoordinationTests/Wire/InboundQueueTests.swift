import Testing

@testable import SkeinCoordination

/// Bytes that are read straight into their final place, and messages that grow in place.
@Suite("messages in place")
struct InboundQueueTests {
    private let key = FrameKey(bytes: Array(0..<32))
    private let update = Message.parameters(
        ParameterUpdate(
            version: 3, base: 0, digest: [UInt8](repeating: 9, count: 32),
            payload: (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }))

    private func reader() -> InboundQueue {
        var reader = InboundQueue(
            bounds: MessageBounds(
                allowed: Set(MessageType.allCases), gradientPayloadBytes: 1 << 20,
                parameterPayloadBytes: 1 << 20, skipsUnknown: true))
        reader.authenticate(with: key)
        return reader
    }

    private struct Chunk {
        var type = MessageType.parameters.rawValue
        var flags: FrameHeader.Flags
        var bytes: [UInt8]
        var length: Int?
    }

    private func bytes(_ chunks: [Chunk], length: Int) -> [UInt8] {
        var sealer = FrameSealer()
        sealer.authenticate(with: key)
        return chunks.flatMap { chunk in
            chunk.bytes.withUnsafeBytes {
                sealer.seal(
                    type: chunk.type, flags: chunk.flags, term: 1,
                    messageLength: chunk.length ?? length, payload: $0)
            }
        }
    }

    /// Feeds bytes as a socket does: at most `size` at a time, in the middle of a payload with `fill`.
    private func messages(_ bytes: [UInt8], size: Int) throws(WireError) -> [Message] {
        var reader = reader()
        var found: [Message] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let missing = reader.missingPayload
            if missing > 0 {
                // A socket has fewer bytes than there is room for when more than `size` are missing.
                reader.fill(min(missing, 2 * size)) { room in
                    let count = min(room.count, size, rest.count)
                    room.copyBytes(from: rest.prefix(count))
                    return count
                }
            } else {
                Array(rest.prefix(size)).withUnsafeBytes { reader.append($0) }
            }
            rest = rest.dropFirst(min(size, missing > 0 ? missing : size))
            while let message = try reader.next() { found.append(message.message) }
        }
        return found
    }

    @Test("what is read straight into a payload equals what is appended, however it is cut")
    func fill() throws {
        let whole = update.encoded()
        let sent = bytes(
            [
                Chunk(flags: .more, bytes: Array(whole[..<10])),
                Chunk(flags: [.more, .continuation], bytes: Array(whole[10..<400])),
                Chunk(flags: [.more, .continuation], bytes: Array(whole[400..<401])),
                Chunk(flags: .continuation, bytes: Array(whole[401...])),
            ], length: whole.count)
        for size in 1...sent.count { #expect(try messages(sent, size: size) == [update]) }
    }

    @Test(
        "a foreign frame between two chunks takes nothing from them", arguments: 1...60)
    func between(cut: Int) throws {
        let whole = update.encoded()
        let beat = Message.heartbeat(Heartbeat(residentBytes: 5))
        // A type that this version does not know, which may be skipped and claims to continue.
        let stranger = Chunk(
            type: 999, flags: [.optional, .continuation], bytes: [1, 2, 3], length: 9)
        let urgent = Chunk(
            type: MessageType.heartbeat.rawValue, flags: [], bytes: beat.encoded(),
            length: beat.encoded().count)
        let sent = bytes(
            [
                Chunk(flags: .more, bytes: Array(whole[..<cut])), stranger, urgent, stranger,
                Chunk(flags: [.more, .continuation], bytes: Array(whole[cut..<500])), urgent,
                stranger, stranger, Chunk(flags: .continuation, bytes: Array(whole[500...])),
            ], length: whole.count)
        for size in [1, 30, 5000] {
            #expect(try messages(sent, size: size) == [beat, beat, update])
        }
    }

    @Test("a chunk beyond its message's end is refused, and damage in one that is filled is found")
    func refused() {
        let whole = update.encoded()
        let first = Chunk(flags: .more, bytes: Array(whole[..<500]))
        let over = bytes(
            [first, Chunk(flags: .continuation, bytes: Array(whole[500...]) + [0])],
            length: whole.count)
        #expect(throws: WireError.badChunk(.parameters, .wrongLength)) {
            try messages(over, size: 100)
        }
        var damaged = bytes(
            [first, Chunk(flags: .continuation, bytes: Array(whole[500...]))], length: whole.count)
        damaged[damaged.count - 100] ^= 1
        #expect(throws: WireError.payloadChecksum(sequence: 1)) {
            try messages(damaged, size: 100)
        }
    }

    @Test("a message in chunks is read into one place, whatever comes between them")
    func inPlace() throws {
        let megabyte = 1 << 20
        var reader = InboundQueue(
            bounds: MessageBounds(
                allowed: [.parameters, .heartbeat], parameterPayloadBytes: 6 * megabyte))
        reader.authenticate(with: key)
        let chunk = [UInt8](repeating: 1, count: megabyte)
        let length = 6 * megabyte - 10
        let stranger = Chunk(
            type: 999, flags: [.optional, .continuation], bytes: Array(chunk[..<40_000]))
        let chunks =
            [Chunk(flags: .more, bytes: chunk)]
            + (0..<4).flatMap { _ in
                [stranger, Chunk(flags: [.more, .continuation], bytes: chunk)]
            }
            // Ten bytes too many.
            + [Chunk(flags: .continuation, bytes: chunk)]
        let sent = bytes(chunks, length: length)
        var rest = sent[...]
        var places: [(type: Int, start: UInt, count: Int)] = []
        func feed() throws(WireError) {
            while !rest.isEmpty {
                let missing = reader.missingPayload
                if missing > 0 {
                    let count = min(missing, 300_000)
                    reader.fill(count) { room in
                        room.copyBytes(from: rest.prefix(count))
                        let base = UInt(bitPattern: room.baseAddress)
                        places.append((missing == 40_000 ? 999 : 0, base, count))
                        return count
                    }
                    rest = rest.dropFirst(count)
                } else {
                    // Tag and header, without any payload.
                    Array(rest.prefix(1)).withUnsafeBytes { reader.append($0) }
                    rest = rest.dropFirst()
                }
                _ = try reader.next()
            }
        }
        #expect(throws: WireError.badChunk(.parameters, .wrongLength)) { try feed() }
        // The first chunk has an array of its own, from which its rest is copied once.
        let own = places.filter { $0.type == 0 }.dropFirst(4)
        #expect(own.count == 4 * 4 + 4)
        let together = own.prefix(16)
        for (one, next) in zip(together, together.dropFirst()) {
            #expect(next.start == one.start + UInt(one.count))
        }
        #expect(places.count { $0.type == 999 } == 4)
    }

    @Test("a chunk of another type, or longer than what is missing, gets an array of its own")
    func claims() throws {
        let parameters = MessageType.parameters.rawValue
        for (type, count, isContinuation, start) in [
            (parameters, 10, true, 90), (parameters, 11, true, 0), (parameters, 10, false, 0),
            (999, 10, true, 0),
        ] {
            var opener = FrameOpener()
            opener.authenticate(with: key)
            opener.resume(
                BegunMessage(
                    type: parameters, bytes: [UInt8](repeating: 1, count: 90), missing: 10))
            let chunk = Chunk(
                type: type, flags: isContinuation ? [.more, .continuation] : .more,
                bytes: [UInt8](repeating: 2, count: count))
            bytes([chunk], length: 100).withUnsafeBytes { opener.append($0) }
            let frame = try opener.next().found()
            #expect(frame.start == start)
            #expect(frame.payload.count == start + count)
        }
    }

    @Test("random chunks give what an assembler that lends nothing gives, 5,000 times")
    func random() {
        let seed = WireRandom.seed("random chunks")
        var random = WireRandom(seed: seed)
        var (whole, broken) = (0, 0)
        for _ in 0..<5000 {
            let sent = stream(&random)
            let expected = reference(sent)
            let found = outcome(sent, &random)
            #expect(found.messages == expected.messages, "seed \(seed)")
            #expect(found.error == expected.error, "seed \(seed)")
            whole += found.messages.count { $0.type == .parameters }
            if found.error != nil { broken += 1 }
        }
        #expect(whole > 1000 && broken > 500, "\(whole) messages, \(broken) errors")
    }

    /// Frames of a few messages, mostly valid.
    private func stream(_ random: inout WireRandom) -> [UInt8] {
        let beat = Message.heartbeat(Heartbeat(residentBytes: 5)).encoded()
        let urgent = Chunk(
            type: MessageType.heartbeat.rawValue, flags: [], bytes: beat, length: beat.count)
        var chunks: [Chunk] = []
        for _ in 0...random.upTo(1) {
            let message = Message.parameters(
                ParameterUpdate(
                    version: 3, base: 0, digest: random.bytes(32),
                    payload: random.bytes(random.upTo(120)))
            ).encoded()
            var rest = message[...]
            while !rest.isEmpty {
                var bytes = Array(rest.prefix(random.upTo(60)))
                rest = rest.dropFirst(bytes.count)
                var flags: FrameHeader.Flags = rest.isEmpty ? [] : .more
                if rest.endIndex - rest.count > bytes.count { flags.insert(.continuation) }
                var length = message.count
                switch random.upTo(60) {
                case 0: bytes.append(1)
                case 1: flags.formSymmetricDifference(.continuation)
                case 2: flags.formSymmetricDifference(.more)
                case 3: length += 1
                case 4, 5: chunks.append(urgent)
                case 6...12:
                    chunks.append(
                        Chunk(
                            type: 999, flags: [.optional, .continuation],
                            bytes: random.bytes(random.upTo(80)), length: 80))
                default: break
                }
                chunks.append(Chunk(flags: flags, bytes: bytes, length: length))
            }
        }
        return bytes(chunks, length: 0)
    }

    private func reference(_ sent: [UInt8]) -> (messages: [Message], error: WireError?) {
        var opener = FrameOpener()
        opener.authenticate(with: key)
        var assembler = MessageAssembler(bounds: reader().bounds)
        var messages: [Message] = []
        do throws(WireError) {
            sent.withUnsafeBytes { opener.append($0) }
            while let frame = try opener.next() {
                if let message = try assembler.add(frame) { messages.append(message.message) }
            }
            return (messages, nil)
        } catch {
            return (messages, error)
        }
    }

    private func outcome(
        _ sent: [UInt8], _ random: inout WireRandom
    ) -> (messages: [Message], error: WireError?) {
        var reader = reader()
        var messages: [Message] = []
        var rest = sent[...]
        do throws(WireError) {
            while !rest.isEmpty {
                var count = min(1 + random.upTo(100), rest.count)
                if reader.missingPayload > 0, random.upTo(2) > 0 {
                    count = min(count, reader.missingPayload)
                    reader.fill(min(reader.missingPayload, count + random.upTo(9))) { room in
                        room.copyBytes(from: rest.prefix(count))
                        return count
                    }
                } else {
                    Array(rest.prefix(count)).withUnsafeBytes { reader.append($0) }
                }
                rest = rest.dropFirst(count)
                while let message = try reader.next() { messages.append(message.message) }
            }
            return (messages, nil)
        } catch {
            return (messages, error)
        }
    }
}
