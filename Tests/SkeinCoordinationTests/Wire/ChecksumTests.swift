import Testing

@testable import SkeinBasics
@testable import SkeinCoordination

@Suite("CRC-32C and HMAC-SHA256")
struct ChecksumTests {
    @Test(
        "CRC-32C gives the known answers",
        arguments: [
            (Array("123456789".utf8), 0xe306_9283), ([], 0),
            // RFC 3720, appendix B.4.
            ([UInt8](repeating: 0, count: 32), 0x8a91_36aa),
            ([UInt8](repeating: 255, count: 32), 0x62a8_ab43),
            ((0..<32).map { UInt8($0) }, 0x46dd_794e),
            ((0..<32).map { UInt8(31 - $0) }, 0x113f_db5c),
        ] as [([UInt8], UInt32)])
    func knownChecksums(_ bytes: [UInt8], _ expected: UInt32) {
        #expect(CRC32C.checksum(of: bytes) == expected)
    }

    @Test("CRC-32C does not depend on how the message is cut")
    func cuts() {
        let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        for cut in 0...100 {
            var crc = CRC32C()
            bytes.withUnsafeBytes {
                crc.update(UnsafeRawBufferPointer(rebasing: $0[..<cut]))
                crc.update(UnsafeRawBufferPointer(rebasing: $0[cut...]))
            }
            #expect(crc.value == CRC32C.checksum(of: bytes))
        }
    }

    @Test("CRC-32C by instruction and by tables is the same, at every length and alignment")
    func paths() {
        let bytes = (0..<600).map { UInt8(truncatingIfNeeded: $0 &* 91 &+ $0 / 256) }
        bytes.withUnsafeBytes { buffer in
            for start in 0..<9 {
                for end in start...(start + 70) {
                    let piece = UnsafeRawBufferPointer(rebasing: buffer[start..<end])
                    var tables = CRC32C()
                    tables.updateByTables(piece)
                    #expect(tables.value == CRC32C.checksum(of: piece), "\(start)..<\(end)")
                }
            }
            var tables = CRC32C()
            tables.updateByTables(buffer)
            #expect(tables.value == CRC32C.checksum(of: buffer))
        }
    }

    @Test(
        "HMAC-SHA256 gives the answers of RFC 4231",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                (1...25).map { UInt8($0) }, [UInt8](repeating: 0xcd, count: 50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ] as [([UInt8], [UInt8], String)])
    func knownCodes(_ key: [UInt8], _ message: [UInt8], _ expected: String) {
        for cut in [0, 1, message.count / 2, message.count] {
            var code = MessageAuthentication(key: key)
            code.update(Array(message[..<cut]))
            code.update(Array(message[cut...]))
            #expect(Hex.text(code.finish()) == expected)
        }
    }

    @Test("codes are equal only when every bit is")
    func equality() {
        let code = [UInt8](0..<32)
        #expect(MessageAuthentication.areEqual(code, code))
        #expect(!MessageAuthentication.areEqual(code, Array(code.dropLast())))
        for bit in 0..<256 {
            var other = code
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(!MessageAuthentication.areEqual(code, other))
        }
    }
}

enum Hex {
    static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
