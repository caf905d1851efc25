import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinTensors

@Suite("rates of registers")
struct RegisterRatesTests {
    @Test("each mode has a rate that a processor can have: the compiler has left its loop")
    func measured() {
        let rates = RegisterRates.measure(for: .zero)
        for mode in RegisterRates.Mode.allCases {
            // The slowest level of an old machine; products of 64 bytes more often than in any cycle.
            #expect((100_000_000...10_000_000_000_000).contains(rates[mode]), "\(mode): \(rates)")
            #expect(rates.named[mode.rawValue] == rates[mode])
        }
        #expect(rates.named.count == RegisterRates.Mode.allCases.count)
    }

    private static let some = RegisterRates(fp32: 11, bf16: 22, int8: 33)
    private static let other = RegisterRates(fp32: 1, bf16: 2, int8: 3)

    /// What a cache says, and whether it had to measure.
    private static func ask(_ cache: RegisterRateCache) -> (
        rates: RegisterRates, flaw: (any Error)?, measured: Bool
    ) {
        let count = Mutex(0)
        let (rates, flaw) = cache.rates {
            count.withLock { $0 += 1 }
            return other
        }
        return (rates, flaw, count.withLock { $0 == 1 })
    }

    @Test("rates are measured once for each processor, level and directory")
    func kept() throws {
        try TestPaths.withTemporaryDirectory { directory in
            func cache(
                _ name: String = "a", _ processor: [String] = ["model: 1"],
                _ level: ProcessorLevel = .avx2
            ) -> RegisterRateCache {
                RegisterRateCache(
                    directory: directory + "/" + name, processor: processor, level: level)
            }
            #expect(cache().rates { Self.some }.rates == Self.some)
            let again = Self.ask(cache())
            #expect(again.rates == Self.some && again.flaw == nil && !again.measured)
            for another in [
                cache("a", ["model: 2"]), cache("a", ["model: 1"], .avx512), cache("b"),
            ] {
                #expect(Self.ask(another).measured)
                #expect(!Self.ask(another).measured)
            }
            // A processor that does not say what it is could be any.
            #expect(Self.ask(cache("a", [])).measured)
            #expect(Self.ask(cache("a", [])).measured)
            #expect(Self.ask(cache()).rates == Self.some)
            let mode =
                try FileManager.default.attributesOfItem(
                    atPath: #require(cache().path))[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("a file that is damaged in any byte is measured again and replaced")
    func damaged() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let cache = RegisterRateCache(
                directory: directory, processor: ["model: 1"], level: .avx2)
            _ = cache.rates { Self.some }
            let path = try #require(cache.path)
            let good = try RegularFile.bytes(of: path, from: 0, limit: 1000)
            var texts = good.indices.map { place in
                var bytes = good
                bytes[place] ^= 1
                return bytes
            }
            texts += [[], Array(good.dropLast()), good + [32], good + good]
            texts.append([UInt8](repeating: 65, count: 100_000))
            for bytes in texts {
                try AtomicFile.write(bytes, to: path)
                let answer = Self.ask(cache)
                #expect(answer.measured && answer.rates == Self.other && answer.flaw == nil)
                #expect(!Self.ask(cache).measured)
            }
        }
    }

    @Test("a cache that cannot be read or written gives rates and says why")
    func unwritable() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write("a file", to: directory + "/file")
            let blocked = Self.ask(
                RegisterRateCache(
                    directory: directory + "/file/rates", processor: ["model: 1"], level: .avx2))
            #expect(blocked.measured && blocked.rates == Self.other)
            #expect(blocked.flaw is FileError)
            let cache = RegisterRateCache(
                directory: directory, processor: ["model: 1"], level: .avx2)
            try AtomicFile.makeDirectory(#require(cache.path))
            let folder = Self.ask(cache)
            #expect(folder.measured && folder.rates == Self.other)
            #expect(folder.flaw is FileError)
        }
    }
}
