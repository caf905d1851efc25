import Testing

@testable import Coordination

/// Bytes that are read straight to where they are to stay, and messages that grow in one place.
@Suite("messages where they lie")
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
                // A socket has fewer bytes than there is room for, every other time.
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

    @Test("what is read straight into a payload is what is appended, however it is cut")
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
        "a frame between two chunks that is none of theirs takes nothing along", arguments: 1...60)
    func between(cut: Int) throws {
        let whole = update.encoded()
        let beat = Message.heartbeat(Heartbeat(residentBytes: 5))
        // A type that nobody knows yet, which may be passed over and claims to go on.
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

    @Test("a chunk beyond its message's end is refused, and damage in one that is filled is seen")
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

    @Test("the chunks of a message come to lie where the first ones do")
    func inPlace() throws {
        var assembler = MessageAssembler(
            bounds: MessageBounds(allowed: [.parameters], parameterPayloadBytes: 8 << 20))
        let chunk = [UInt8](repeating: 1, count: 1 << 20)
        func header(_ flags: FrameHeader.Flags) -> FrameHeader {
            FrameHeader(
                type: MessageType.parameters.rawValue, flags: flags, term: 1, sequence: 0,
                payloadLength: 1 << 20, messageLength: 4 << 20, payloadChecksum: 0)
        }
        _ = try assembler.add(Frame(header: header(.more), payload: chunk))
        var lent = try assembler.lend().found()
        let place = lent.withUnsafeBytes { $0.baseAddress }
        for _ in 0..<2 {
            let start = lent.count
            lent += chunk
            let frame = Frame(
                header: header([.more, .continuation]), payload: lent, start: start)
            lent = []
            _ = try assembler.add(frame)
            lent = try assembler.lend().found()
        }
        #expect(lent.withUnsafeBytes { $0.baseAddress } == place)
        #expect(lent.count == 3 << 20 - ParameterUpdate.headByteCount)
    }
}
