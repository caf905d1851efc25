import CSHA256
import Testing

@testable import Basics

@Suite struct SHA256Tests {
    @Test("gives the digests of FIPS 180-4's examples")
    func knownAnswers() {
        #expect(
            SHA256.digest(of: "").description
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            SHA256.digest(of: "abc").description
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            SHA256.digest(of: [UInt8](repeating: 0x61, count: 1_000_000)).description
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test("any split of a message gives the same digest")
    func incremental() {
        let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let whole = SHA256.digest(of: message)
        for step in [1, 3, 63, 64, 65, 200] {
            var hash = SHA256()
            for start in stride(from: 0, to: message.count, by: step) {
                hash.update(Array(message[start..<min(start + step, message.count)]))
            }
            #expect(hash.finish() == whole, "split every \(step) bytes")
        }
    }

    @Test("the CPU's instructions and the portable path agree")
    func paths() {
        let data = (0..<6400).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 3) }
        var fast = [UInt32](1...8)
        var plain = fast
        skein_sha256_compress(&fast, data, 100)
        skein_sha256_compress_portable(&plain, data, 100)
        #expect(fast == plain)
    }
}
