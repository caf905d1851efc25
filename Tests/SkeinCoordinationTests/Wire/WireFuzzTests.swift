import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("garbage on the wire")
struct WireFuzzTests {
    private let key = FrameKey(bytes: Array(32..<64))

    /// Feeds bytes in pieces of random sizes, some of them straight into a payload, until an error or
    /// the end.
    private func drain(
        _ bytes: [UInt8], _ reader: inout InboundQueue, using random: inout WireRandom
    ) -> (messages: Int, error: WireError?) {
        var messages = 0
        var position = 0
        do throws(WireError) {
            while position < bytes.count {
                var end = min(bytes.count, position + 1 + random.upTo(200))
                if reader.missingPayload > 0, random.upTo(1) == 0 {
                    end = min(end, position + reader.missingPayload)
                    reader.fill(reader.missingPayload) { room in
                        room.copyBytes(from: bytes[position..<end])
                        return end - position
                    }
                } else {
                    bytes.withUnsafeBytes {
                        reader.append(UnsafeRawBufferPointer(rebasing: $0[position..<end]))
                    }
                }
                position = end
                while try reader.next() != nil { messages += 1 }
            }
            return (messages, nil)
        } catch {
            return (messages, error)
        }
    }

    private func reader(key: FrameKey?) -> InboundQueue {
        var reader = InboundQueue(
            bounds: MessageBounds(
                allowed: Set(MessageType.allCases), gradientPayloadBytes: 1000,
                parameterPayloadBytes: 1000, replayBytes: 10_000))
        if let key { reader.authenticate(with: key) }
        return reader
    }

    @Test("random payloads of every type are errors or messages, 200,000 times")
    func payloads() {
        let seed = WireRandom.seed("random payloads")
        var random = WireRandom(seed: seed)
        let types = MessageType.allCases
        let samples = types.map { type in
            (0..<20).map { _ in Message.random(type, using: &random).encoded() }
        }
        var read = 0
        for turn in 0..<200_000 {
            let index = turn % types.count
            var bytes = samples[index][turn / types.count % 20]
            // Mostly valid, with some bytes changed, cut, or taken from another message.
            for _ in 0..<random.upTo(3) where !bytes.isEmpty {
                bytes[random.upTo(bytes.count - 1)] = random.integer()
            }
            if turn % 5 == 0 { bytes.removeLast(random.upTo(bytes.count)) }
            if turn % 7 == 0 { bytes += samples[(index + 1) % types.count][0].prefix(9) }
            do throws(WireError) {
                let message = try Message.decode(types[index], bytes)
                read += 1
                if turn % 16 == 0 { #expect(message.encoded() == bytes, "seed \(seed)") }
            } catch {
                continue
            }
        }
        #expect(read > 20_000 && read < 190_000)
    }

    @Test("streams of garbage end with an error", arguments: [false, true])
    func garbage(_ tagged: Bool) {
        let seed = WireRandom.seed("garbage")
        var random = WireRandom(seed: seed)
        for _ in 0..<2000 {
            var bytes = random.bytes(41 + random.upTo(300))
            if random.upTo(1) == 0 {
                bytes.replaceSubrange(0..<5, with: [0x53, 0x4b, 0x4e, 0x46, 2])
            }
            var reader = reader(key: tagged ? key : nil)
            let (messages, error) = drain(bytes, &reader, using: &random)
            #expect(messages == 0 && error != nil, "seed \(seed)")
        }
    }

    @Test("a stream that was damaged anywhere gives its messages up to there and then an error")
    func damagedStreams() {
        let seed = WireRandom.seed("damaged streams")
        var random = WireRandom(seed: seed)
        for _ in 0..<500 {
            var out = OutboundQueue()
            out.authenticate(with: key)
            var bytes: [UInt8] = []
            var ends: [Int] = []
            for _ in 0..<10 {
                var type = MessageType.allCases[random.upTo(MessageType.allCases.count - 1)]
                if type.isGreeting || type == .rejection { type = .heartbeat }
                out.add(.random(type, using: &random), term: 1)
                while let frame = out.nextFrame() { bytes += frame.bytes }
                ends.append(bytes.count)
            }
            var sound = reader(key: key)
            let (all, none) = drain(bytes, &sound, using: &random)
            #expect(all == 10 && none == nil, "seed \(seed)")
            let place = random.upTo(bytes.count - 1)
            var damaged = reader(key: key)
            var (messages, error): (Int, WireError?)
            switch random.upTo(2) {
            case 0:
                bytes[place] ^= UInt8(1 << random.upTo(7))
                (messages, error) = drain(bytes, &damaged, using: &random)
            case 1:
                // Something was lost; what follows must be long enough to be a frame.
                bytes.remove(at: place)
                (messages, error) = drain(
                    bytes + random.bytes(Limits.greetingBytes), &damaged, using: &random)
            default:
                bytes.insert(random.integer(), at: place)
                (messages, error) = drain(
                    bytes + random.bytes(Limits.greetingBytes), &damaged, using: &random)
            }
            #expect(messages <= ends.filter { $0 <= place + 1 }.count, "seed \(seed)")
            #expect(error != nil, "seed \(seed), byte \(place)")
        }
    }

    @Test("frames with sound checksums and random headers are errors or messages")
    func headers() {
        let seed = WireRandom.seed("random headers")
        var random = WireRandom(seed: seed)
        for _ in 0..<5000 {
            var reader = reader(key: nil)
            var bytes: [UInt8] = []
            for sequence in UInt64(0)..<4 {
                let payload = random.bytes(random.upTo(100))
                let header = FrameHeader(
                    type: UInt16(random.upTo(20)),
                    flags: FrameHeader.Flags(rawValue: UInt16(random.upTo(7))),
                    term: UInt32(random.upTo(1)), sequence: sequence,
                    payloadLength: UInt32(payload.count),
                    messageLength: random.upTo(1) == 0
                        ? UInt32(payload.count) : random.integer(),
                    payloadChecksum: SHA256.digest(of: payload).payloadChecksum)
                bytes += header.encoded() + payload
            }
            let (messages, _) = drain(bytes, &reader, using: &random)
            #expect(messages <= 4)
        }
    }
}
