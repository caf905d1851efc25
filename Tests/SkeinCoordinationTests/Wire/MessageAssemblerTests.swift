import SkeinCoordination
import Testing

@Suite("messages from frames")
struct MessageAssemblerTests {
    private let bounds = MessageBounds(
        allowed: [.parameters, .result, .heartbeat], parameterPayloadBytes: 100)
    private let update = Message.parameters(
        ParameterUpdate(
            version: 1, base: 0, digest: [UInt8](repeating: 1, count: 32),
            payload: Array(0..<52)))

    /// A frame with the given fields.
    private func frame(
        _ type: MessageType, _ payload: some Sequence<UInt8>, _ flags: FrameHeader.Flags = [],
        length: UInt32 = 100, term: UInt32 = 1
    ) -> Frame {
        let payload = Array(payload)
        return Frame(
            header: FrameHeader(
                type: type.rawValue, flags: flags, term: term, sequence: 0,
                payloadLength: UInt32(payload.count), messageLength: length, payloadChecksum: 0),
            payload: payload)
    }

    private func frame(
        _ payload: some Sequence<UInt8>, _ flags: FrameHeader.Flags = [], length: UInt32 = 100,
        term: UInt32 = 1
    ) -> Frame {
        frame(.parameters, payload, flags, length: length, term: term)
    }

    private func add(_ frames: [Frame]) throws(WireError) -> [Message] {
        var assembler = MessageAssembler(bounds: bounds)
        var messages: [Message] = []
        for frame in frames {
            if let message = try assembler.add(frame) { messages.append(message.message) }
        }
        return messages
    }

    @Test("urgent messages come between the chunks of a bulky one")
    func interleaving() throws {
        let bytes = update.encoded()
        #expect(bytes.count == 100)
        let beat = Message.heartbeat(Heartbeat(residentBytes: 5))
        let messages = try add([
            frame(bytes[..<40], .more), frame(.heartbeat, beat.encoded(), length: 20),
            frame(bytes[40..<41], [.more, .continuation]),
            frame(.heartbeat, beat.encoded(), length: 20),
            frame(bytes[41...], .continuation),
        ])
        #expect(messages == [beat, beat, update])
    }

    @Test("chunks that contradict each other are refused")
    func chunks() {
        let bytes = update.encoded()
        let start = frame(bytes[..<40], .more)
        let end = frame(bytes[40...], .continuation)
        let beat = Message.heartbeat(Heartbeat())
        let cases: [([Frame], MessageType, WireError.ChunkFault)] = [
            ([end], .parameters, .withoutStart),
            ([start, start], .parameters, .interleaved),
            ([start, frame(bytes)], .parameters, .interleaved),
            ([start, frame(.result, [], [], length: 60)], .result, .interleaved),
            ([start, frame(.result, bytes[40...], .continuation)], .result, .changed),
            ([start, frame(bytes[40...], .continuation, term: 2)], .parameters, .changed),
            ([start, frame(bytes[40...], .continuation, length: 99)], .parameters, .changed),
            ([start, frame(bytes[39...], .continuation)], .parameters, .wrongLength),
            ([start, frame(bytes[41...], .continuation)], .parameters, .wrongLength),
            (
                [start, frame(bytes[40...], [.more, .continuation])], .parameters, .wrongLength
            ),
            ([start, frame([], [.more, .continuation])], .parameters, .empty),
            ([frame([], .more)], .parameters, .empty),
            ([frame(bytes, .more)], .parameters, .wrongLength),
            ([frame(bytes[..<99])], .parameters, .wrongLength),
            ([frame(bytes + [0])], .parameters, .wrongLength),
            ([start, end, end], .parameters, .withoutStart),
            ([frame(.heartbeat, [1], .more, length: 20)], .heartbeat, .cut),
            ([frame(.heartbeat, beat.encoded(), .continuation)], .heartbeat, .withoutStart),
        ]
        for (index, (frames, type, fault)) in cases.enumerated() {
            #expect(throws: WireError.badChunk(type, fault), "case \(index)") { try add(frames) }
        }
    }

    @Test("a message that may not come now, or is too long, is refused by its first frame")
    func admission() {
        #expect(throws: WireError.unexpected(.lease)) { try add([frame(.lease, [], .more)]) }
        #expect(throws: WireError.messageTooLong(.parameters, limit: 148, found: 149)) {
            try add([frame([1], .more, length: 149)])
        }
        #expect(throws: WireError.messageTooLong(.result, limit: 101, found: 4_294_967_295)) {
            try add([frame(.result, [1], .more, length: .max)])
        }
        #expect(throws: Never.self) { try add([frame([1], .more, length: 148)]) }
    }

    @Test("unknown types are skipped only when they are marked optional")
    func unknownTypes() throws {
        var unknown = frame([1, 2], [.optional, .more], length: .max)
        unknown.header.type = 999
        #expect(try add([unknown, frame(update.encoded()[...])]) == [update])
        var strict = MessageAssembler(bounds: MessageBounds(from: .dialler, in: .greeting))
        #expect(throws: WireError.unknownType(999)) { try strict.add(unknown) }
        unknown.header.flags = []
        #expect(throws: WireError.unknownType(999)) { try add([unknown]) }
    }

    @Test("every message fits into the bound of its type", arguments: MessageType.allCases)
    func limits(_ type: MessageType) throws {
        let seed = WireRandom.seed("limits of \(type)")
        var random = WireRandom(seed: seed)
        let bounds = MessageBounds(
            allowed: [type], gradientPayloadBytes: 60, parameterPayloadBytes: 60,
            replayBytes: 4096)
        for _ in 0..<100 {
            let message = EncodedMessage(.random(type, using: &random))
            #expect(message.bytes.count <= bounds.limit(of: type), "seed \(seed)")
            if type.isUrgent {
                #expect(bounds.limit(of: type) <= Limits.framePayloadBytes)
            }
        }
    }

    @Test("the longest lists fit into their messages' bounds")
    func longestLists() {
        let digest = [UInt8](repeating: 0, count: 32)
        let key = WorkKey(round: 1, index: 1)
        let name = String(repeating: "x", count: 250)
        let bounds = MessageBounds(allowed: [])
        let offer = Offer(
            proof: digest, term: 1, start: [UInt8](repeating: 0, count: 16), modelDigest: digest,
            dataDigest: digest,
            configurationDigest: digest, recipeDigest: digest, answerDigest: digest,
            fingerprint: String(repeating: "f", count: 256),
            configuration: [UInt8](repeating: 1, count: Limits.configurationBytes),
            longestRow: 1,
            modelFiles: (1000..<1000 + Limits.modelFiles).map {
                .init(name: name + "\($0)", byteCount: 1, digest: digest)
            })
        let ready = Ready(
            modelDigest: digest, dataDigest: digest, configurationDigest: digest,
            recipeDigest: digest, answerDigest: digest,
            fingerprint: offer.fingerprint, threads: 1, parameterVersion: 1,
            parameterDigest: digest, held: [WorkKey](repeating: key, count: Limits.heldWork))
        let beat = Heartbeat(
            computing: .init(
                repeating: .init(key: key, thousandths: 1), count: Limits.heldWork))
        for message in [Message.offer(offer), .ready(ready), .heartbeat(beat)] {
            let encoded = EncodedMessage(message)
            #expect(encoded.bytes.count <= bounds.limit(of: message.type))
            #expect(throws: Never.self) { try Message.decode(encoded.type, encoded.bytes) }
        }
    }
}
