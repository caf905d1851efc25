import SkeinBasics
import Testing

@testable import SkeinCoordination

@Suite("frames")
struct FrameTests {
    private let key = FrameKey(bytes: [UInt8](repeating: 7, count: 32))

    private func frames(
        _ payloads: [[UInt8]], key: FrameKey? = nil, type: UInt16 = 10
    ) -> [[UInt8]] {
        var sealer = FrameSealer()
        if let key { sealer.authenticate(with: key) }
        return payloads.map { payload in
            payload.withUnsafeBytes {
                sealer.seal(type: type, term: 3, messageLength: payload.count, payload: $0)
            }
        }
    }

    private func opener(key: FrameKey? = nil) -> FrameOpener {
        var opener = FrameOpener()
        if let key { opener.authenticate(with: key) }
        return opener
    }

    /// All frames that come out of `bytes`, or the error.
    private func open(
        _ bytes: [UInt8], key: FrameKey? = nil
    ) throws(WireError) -> [[UInt8]] {
        var opener = opener(key: key)
        bytes.withUnsafeBytes { opener.append($0) }
        var payloads: [[UInt8]] = []
        while let frame = try opener.next() { payloads.append(frame.payload) }
        return payloads
    }

    /// A frame with changed header bytes and right checksums.
    private func forged(
        _ payload: [UInt8] = [], _ change: (inout [UInt8]) -> Void
    ) -> [UInt8] {
        var bytes = frames([payload])[0]
        change(&bytes)
        let checksum = CRC32C.checksum(of: Array(bytes[..<36]))
        for index in 0..<4 {
            bytes[36 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index))
        }
        return bytes
    }

    @Test("frames come out however the bytes are cut", arguments: [false, true])
    func cuts(_ tagged: Bool) throws {
        let key = tagged ? key : nil
        let payloads: [[UInt8]] = [[], [1], Array(0..<200), [], [9, 9]]
        let bytes = frames(payloads, key: key).flatMap { $0 }
        for size in 1...bytes.count {
            var opener = opener(key: key)
            var found: [[UInt8]] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                Array(bytes[start..<min(start + size, bytes.count)])
                    .withUnsafeBytes { opener.append($0) }
                // Every other time, leave the frames inside until the next bytes have come.
                if start / size % 2 == 1, start + size < bytes.count { continue }
                while let frame = try opener.next() { found.append(frame.payload) }
            }
            #expect(found == payloads)
        }
    }

    @Test("a frame of 1 MiB passes, and one byte more is refused by its header")
    func largest() throws {
        let payload = (0..<Limits.framePayloadBytes).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try open(frames([payload], key: key)[0], key: key) == [payload])
        let limit = Limits.framePayloadBytes
        let over = forged { $0.replaceSubrange(24..<28, with: [1, 0, 16, 0]) }
        #expect(throws: WireError.payloadTooLong(limit: limit, found: limit + 1)) {
            try open(over, key: key)
        }
    }

    @Test("before there is a key, more than 1 KiB is refused by the header alone")
    func greetings() throws {
        let most = [UInt8](repeating: 1, count: Limits.greetingBytes)
        #expect(try open(frames([most])[0]) == [most])
        #expect(throws: WireError.payloadTooLong(limit: 1024, found: 1025)) {
            try open(Array(frames([most + [1]])[0][..<40]))
        }
    }

    @Test("other protocols and other major versions are recognized by their first bytes")
    func starts() {
        #expect(throws: WireError.badMagic(found: 0x2054_4547)) { try open(Array("GET ".utf8)) }
        #expect(throws: WireError.majorVersion(found: 3)) { try open(Array("SKNF\u{3}".utf8)) }
        #expect(throws: Never.self) { try open(Array("SKN".utf8)) }
    }

    @Test("impossible header fields are refused")
    func headers() {
        #expect(throws: WireError.badHeader(field: "flags", found: 8)) {
            try open(forged { $0[8] = 8 })
        }
        #expect(throws: WireError.badHeader(field: "length", found: 41)) {
            try open(forged { $0[10] = 41 })
        }
        #expect(throws: WireError.badSequence(expected: 0, found: 1)) {
            try open(forged { $0[16] = 1 })
        }
    }

    @Test("every flipped bit of a frame is found", arguments: [false, true])
    func flips(_ tagged: Bool) {
        let key = tagged ? key : nil
        let frame = frames([[1, 2, 3]], key: key)[0]
        for bit in 0..<frame.count * 8 {
            var changed = frame
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: WireError.self, "bit \(bit)") { try open(changed, key: key) }
        }
    }

    @Test("frames that are repeated, lost, swapped or sent back are refused")
    func order() {
        let two = frames([[1], [2]], key: key)
        #expect(throws: WireError.badSequence(expected: 1, found: 0)) {
            try open(two[0] + two[0], key: key)
        }
        #expect(throws: WireError.badSequence(expected: 0, found: 1)) {
            try open(two[1] + two[0], key: key)
        }
        let three = frames([[1], [2], [3]], key: key)
        #expect(throws: WireError.badSequence(expected: 1, found: 2)) {
            try open(three[0] + three[2], key: key)
        }
        let back = FrameKey(bytes: [UInt8](repeating: 8, count: 32))
        #expect(throws: WireError.badTag(sequence: 0)) { try open(two[0], key: back) }
    }

    @Test("a changed frame with corrected checksums has a wrong tag")
    func tags() {
        let tag = Array(frames([[5]], key: key)[0].suffix(16))
        let payload = forged([5]) { _ in }
        #expect(throws: Never.self) { try open(payload + tag, key: key) }
        for (offset, value) in [(5, UInt8(9)), (6, 17), (8, 4), (12, 4), (28, 9)] {
            let changed = forged([5]) { $0[offset] = value }
            #expect(throws: WireError.badTag(sequence: 0)) { try open(changed + tag, key: key) }
        }
        let other = frames([[6]])[0]
        #expect(throws: WireError.badTag(sequence: 0)) { try open(other + tag, key: key) }
        #expect(throws: WireError.badTag(sequence: 0)) {
            try open(payload + [UInt8](repeating: 0, count: 16), key: key)
        }
    }

    @Test("a rejection has a tag only when a frame before it had one")
    func rejections() throws {
        let first = frames([[1]], key: key, type: MessageType.rejection.rawValue)
        #expect(first[0].count == 41)
        #expect(try open(first[0], key: key) == [[1]])
        var sealer = FrameSealer()
        sealer.authenticate(with: key)
        var bytes: [UInt8] = []
        for type in [MessageType.heartbeat, .rejection] {
            bytes += [1].withUnsafeBytes {
                sealer.seal(
                    type: type.rawValue, term: 0, messageLength: 1,
                    payload: UnsafeRawBufferPointer(rebasing: $0[..<1]))
            }
        }
        #expect(bytes.count == 2 * 57)
        #expect(try open(bytes, key: key) == [[1], [1]])
        // Without its tag it is incomplete, and with a wrong one refused.
        #expect(try open(Array(bytes.dropLast(16)), key: key) == [[1]])
        bytes[bytes.count - 1] ^= 1
        #expect(throws: WireError.badTag(sequence: 1)) { try open(bytes, key: key) }
    }

    @Test("an error stays, and what comes after it is not kept")
    func errorsStay() {
        var opener = FrameOpener()
        Array("GET / HTTP/1.1".utf8).withUnsafeBytes { opener.append($0) }
        let good = frames([[1]])[0]
        for _ in 0..<3 {
            #expect(throws: WireError.badMagic(found: 0x2054_4547)) { try opener.next() }
            good.withUnsafeBytes { opener.append($0) }
        }
    }
}
