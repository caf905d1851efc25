import CSkeinHashes
import Testing

@testable import SkeinBasics

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
        var (one, two) = ([UInt32](1...8), [UInt32](2...9))
        var (plainOne, plainTwo) = (one, two)
        skein_sha256_compress_two(&one, data, &two, data.reversed(), 100)
        skein_sha256_compress_portable(&plainOne, data, 100)
        skein_sha256_compress_portable(&plainTwo, data.reversed(), 100)
        #expect(one == plainOne && two == plainTwo)
    }

    @Test(
        "two messages side by side have the digests of each alone",
        arguments: [0, 1, 55, 56, 63, 64, 65, 128, 1000, 6400])
    func sideBySide(count: Int) {
        let first = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for other in [0, 1, 63, 64, 200, 1000, 9000] {
            let second = (0..<other).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 4) }
            let digests = first.withUnsafeBytes { first in
                second.withUnsafeBytes { SHA256.digests(of: first, $0) }
            }
            #expect(digests.0 == SHA256.digest(of: first) && digests.1 == SHA256.digest(of: second))
        }
    }

    @Test("messages that are in the middle of a block continue side by side")
    func sideBySideLater() {
        let message = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 3) }
        for (one, two) in [(1, 0), (0, 1), (63, 65), (64, 100), (10, 10)] {
            var (first, second) = (SHA256(), SHA256())
            first.update(Array(message[..<one]))
            second.update(Array(message[..<two]))
            message.withUnsafeBytes { message in
                SHA256.update(
                    &first, UnsafeRawBufferPointer(rebasing: message[one...]), &second,
                    UnsafeRawBufferPointer(rebasing: message[two...]))
            }
            #expect(first.finish() == SHA256.digest(of: message), "\(one) and \(two) bytes before")
            #expect(second.finish() == SHA256.digest(of: message), "\(one) and \(two) bytes before")
        }
    }
}
