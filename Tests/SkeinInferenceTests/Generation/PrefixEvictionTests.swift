import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// Which blocks leave first.
@Suite struct PrefixEvictionTests {
    private static let model = SHA256.digest(of: [1, 2, 3])

    private func names(_ row: Int, _ count: Int) -> [PrefixName] {
        let root = PrefixName(
            model: Self.model, adapter: Self.model, compute: .fp32, cacheType: .fp32, turns: [],
            byteCounts: [row])
        return PrefixName.blocks(
            of: [Int32](repeating: 0, count: count * PrefixCache.blockTokens)[...], root: root)
    }

    private func store(_ names: [PrefixName], in cache: PrefixCache) {
        for (index, name) in names.enumerated() {
            cache.store(
                name, after: index == 0 ? nil : names[index - 1],
                tokens: [Int32](repeating: 0, count: PrefixCache.blockTokens)[...], byteCount: 10
            ) { $0.initializeMemory(as: UInt8.self, repeating: 0, count: 10) }
        }
    }

    private func found(_ names: [PrefixName], in cache: PrefixCache) -> Int {
        cache.count(
            of: names,
            tokens: [Int32](repeating: 0, count: names.count * PrefixCache.blockTokens),
            byteCount: 10)
    }

    private func cache(blocks: Int) -> PrefixCache {
        PrefixCache(
            model: Self.model, byteLimit: blocks * (10 + PrefixCache.blockOverhead))
    }

    @Test("of a row the last block leaves first, and rows that were not used for longest")
    func order() {
        let cache = cache(blocks: 10)
        let (one, two, three) = (names(1, 6), names(2, 4), names(3, 12))
        store(one, in: cache)
        store(two, in: cache)
        #expect([one, two].map { found($0, in: cache) } == [6, 4])
        // `one` is used: `two` leaves first, from its end.
        cache.restore(
            one, tokens: [Int32](repeating: 0, count: 6 * PrefixCache.blockTokens), byteCount: 10,
            check: DecoderSession.uninterrupted
        ) { _, _, _ in }
        store(Array(three[..<2]), in: cache)
        #expect([one, two, three].map { found($0, in: cache) } == [6, 2, 2])
        store(Array(three[..<5]), in: cache)
        #expect([one, two, three].map { found($0, in: cache) } == [5, 0, 5])
        // A row that is longer than all keeps its beginning.
        store(three, in: cache)
        #expect([one, two, three].map { found($0, in: cache) } == [0, 0, 10])
        store(three, in: cache)
        #expect(found(three, in: cache) == 10)
        // No block without those before it.
        store(Array(one[..<1]), in: cache)
        #expect([one, two, three].map { found($0, in: cache) } == [1, 0, 9])
        #expect(cache.usage.blocks == 10 && cache.usage.bytes <= cache.byteLimit)
    }

    @Test("a row longer than the limit finds as many blocks as fit")
    func longRow() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let prompt = GenerationCase.tokens(600, of: model)
            let size = 64 * 2 * 2 * 2 * 16 * 4 + PrefixCache.blockOverhead
            for blocks in [1, 4, 8, 9] {
                let cache = PrefixCache(model: Self.model, byteLimit: blocks * size)
                let computed = (0..<3).map { _ in
                    let session = DecoderSession(
                        base, capacity: 700, team: team, compute: .fp32, prefixes: cache)
                    _ = session.withLogits(
                        ofPrompt: prompt, check: DecoderSession.uninterrupted
                    ) { $0.count }
                    return session.tokensComputed
                }
                let rest = 600 - blocks * PrefixCache.blockTokens
                #expect(computed == [600, rest, rest])
            }
        }
    }

    @Test("a hundred thousand blocks come and go")
    func many() {
        let cache = cache(blocks: 20_000)
        for row in 0..<10_000 { store(names(row, 10), in: cache) }
        #expect(cache.usage.stored == 100_000)
        #expect(cache.usage.blocks == 20_000 && cache.usage.evicted == 80_000)
        #expect(found(names(9_999, 10), in: cache) == 10)
        #expect(found(names(7_999, 10), in: cache) == 0)
    }

    @Test("weights of other sizes under the same digest share no block")
    func otherSizes() throws {
        let cache = PrefixCache(model: Self.model, byteLimit: 1 << 24)
        let prompt = [Int32](repeating: 1, count: 200)
        for headDimension in [16, 32] {
            try TestPaths.withTemporaryDirectory { directory in
                var tiny = TinyModel()
                tiny.statedHeadDimension = headDimension
                try tiny.writeGGUF(to: directory + "/tiny.gguf")
                let team = ComputeTeam(threadCount: 1)
                let weights = try GenerationWeights(
                    model: ModelDirectory.open(directory + "/tiny.gguf"), team: team)
                let base = GenerationProjections(weights, adapter: nil)
                for expected in [0, 192] {
                    let session = DecoderSession(
                        base, capacity: 220, team: team, compute: .fp32, prefixes: cache)
                    _ = session.withLogits(
                        ofPrompt: prompt, check: DecoderSession.uninterrupted
                    ) { $0.count }
                    #expect(200 - session.tokensComputed == expected)
                }
            }
        }
    }
}
