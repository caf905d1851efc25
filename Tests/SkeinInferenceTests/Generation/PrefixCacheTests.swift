import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// A prefix cache changes what is computed and never what comes out.
@Suite struct PrefixCacheTests {
    private static let model = SHA256.digest(of: [1, 2, 3])

    /// One turn: what the user says, and an answer of some tokens.
    private struct Turn {
        var prompt: [Int32]
        var answer: [Int32] = []
        var fingerprints: [UInt64] = []
        var computed = 0
    }

    /// The turns of a conversation with greedy answers. `session` gives the session of a turn.
    private func conversation(
        turns: Int, of model: ModelConfiguration, session: () -> DecoderSession
    ) -> [Turn] {
        var row: [Int32] = []
        return (0..<turns).map { number in
            let said = GenerationCase.tokens(7 + number * 5 % 17, of: model, seed: 3 * number)
            row += said
            var turn = Turn(prompt: row)
            let session = session()
            let before = session.tokensComputed
            var next = session.withLogits(
                ofPrompt: row, check: DecoderSession.uninterrupted
            ) {
                turn.fingerprints.append($0.fingerprint)
                return Sampler().pick($0, position: 0)
            }
            turn.computed = session.tokensComputed - before
            for position in 1...(5 + number % 7) {
                turn.answer.append(next)
                next = session.withLogits(
                    after: [next], as: .answer, check: DecoderSession.uninterrupted
                ) {
                    turn.fingerprints.append($0.fingerprint)
                    return Sampler().pick($0, position: position)
                }
            }
            row += turn.answer
            return turn
        }
    }

    @Test(
        "20 turns live, from blocks and cold have the same ids; what is new and a block is computed",
        arguments: GenerationCase.all)
    func turns(tested: GenerationCase) throws {
        try tested.open { model, adapter in
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, compute: .int8, team: team)
            for (compute, type) in [
                (ComputeType.fp32, CacheType.fp32), (.bf16, .bf16), (.int8, .fp32), (.fp32, .int8),
            ] {
                let projections = GenerationProjections(weights, adapter: adapter)
                func session(_ prefixes: PrefixCache?) -> DecoderSession {
                    DecoderSession(
                        projections, capacity: 700, team: team, compute: compute, cacheType: type,
                        prefixes: prefixes)
                }
                let cache = PrefixCache(model: Self.model, byteLimit: 1 << 30)
                let one = session(cache)
                let alone = session(nil)
                let (cold, live, liveAlone, rehydrated) = (
                    conversation(turns: 20, of: model.configuration) { session(nil) },
                    conversation(turns: 20, of: model.configuration) { one },
                    conversation(turns: 20, of: model.configuration) { alone },
                    conversation(turns: 20, of: model.configuration) { session(cache) }
                )
                for turn in cold { #expect(turn.computed == turn.prompt.count) }
                for (name, other) in [
                    ("live", live), ("live alone", liveAlone), ("from blocks", rehydrated),
                ] {
                    #expect(other.map(\.prompt) == cold.map(\.prompt), "\(name)")
                    #expect(other.map(\.answer) == cold.map(\.answer), "\(name)")
                    #expect(other.map(\.fingerprints) == cold.map(\.fingerprints), "\(name)")
                    // A row that has just become long is turned otherwise: all of it is new.
                    let longFrom = model.configuration.design.rotaryTables.map(\.longFrom)
                    for (turn, before) in zip(other.dropFirst(), other) where name != "live alone" {
                        let isTurned = longFrom.contains {
                            (turn.prompt.count > $0) != (before.prompt.count > $0)
                        }
                        // The answer before counts as new.
                        let new = turn.prompt.count - before.prompt.count
                        let most = isTurned ? turn.prompt.count : new + PrefixCache.blockTokens
                        #expect(turn.computed <= most, "\(name): \(turn.prompt.count) tokens")
                    }
                }
            }
        }
    }

    @Test("other models, adapters, number formats and tokens have no block in common")
    func foreign() throws {
        try GenerationCase.tiny(.q4x0, isWindowed: false).open { model, adapter in
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, team: team)
            let prompt = GenerationCase.tokens(200, of: model.configuration)
            let cache = PrefixCache(model: Self.model, byteLimit: 1 << 24)
            func known(
                _ cache: PrefixCache, _ prompt: [Int32], _ adapter: AdapterParameters?,
                _ compute: ComputeType = .fp32, _ type: CacheType = .fp32
            ) -> Int {
                let session = DecoderSession(
                    weights: weights, adapter: adapter, capacity: 220, team: team,
                    compute: compute, cacheType: type, prefixes: cache)
                _ = session.withLogits(
                    ofPrompt: prompt, check: DecoderSession.uninterrupted
                ) { $0.count }
                return prompt.count - session.tokensComputed
            }
            #expect(known(cache, prompt, adapter) == 0)
            #expect(known(cache, prompt, adapter) == 192)
            // At least one token is computed.
            #expect(known(cache, Array(prompt[..<192]), adapter) == 128)
            #expect(known(cache, prompt, nil) == 0)
            var other = adapter
            other.values[other.values.count - 1] += 1
            #expect(known(cache, prompt, other) == 0)
            #expect(known(cache, prompt, adapter, .bf16) == 0)
            for type in [CacheType.bf16, .int8] {
                #expect(known(cache, prompt, adapter, .fp32, type) == 0)
            }
            for place in [0, 63, 64, 127, 150] {
                var changed = prompt
                changed[place] += changed[place] == 0 ? 1 : -1
                #expect(known(cache, changed, adapter) == place / 64 * 64)
            }
        }
    }

    private func name(_ byte: UInt8, turns: [Bool] = [false, false]) -> PrefixName {
        PrefixName(
            model: SHA256.digest(of: [byte]), adapter: Self.model, compute: .fp32,
            cacheType: .fp32, turns: turns, byteCounts: [1000])
    }

    @Test("a name is that of all tokens before it; a block with other tokens does not match")
    func names() {
        let tokens = (0..<200).map { Int32($0) }
        let names = PrefixName.blocks(of: tokens[...], root: name(1))
        #expect(names.count == 3)
        #expect(Set(names).count == 3)
        #expect(PrefixName.blocks(of: tokens[..<127], root: name(1)) == [names[0]])
        #expect(PrefixName.blocks(of: tokens[...], root: name(2))[0] != names[0])
        #expect(
            PrefixName.blocks(of: tokens[...], root: name(1, turns: [false, true]))[0] != names[0])
        var changed = tokens
        changed[0] = 7
        let others = PrefixName.blocks(of: changed[...], root: name(1))
        #expect(Set(others).isDisjoint(with: names))
        let cache = PrefixCache(model: Self.model, byteLimit: 1 << 20)
        cache.store(names[0], after: nil, tokens: tokens[..<64], byteCount: 10) { _ in }
        #expect(cache.count(of: names, tokens: tokens, byteCount: 10) == 1)
        // A name that were right by accident, or damaged, would still not match.
        #expect(cache.count(of: names, tokens: changed, byteCount: 10) == 0)
        func restored(_ tokens: [Int32], _ bytes: Int) -> Int {
            cache.restore(
                names, tokens: tokens, byteCount: bytes, check: DecoderSession.uninterrupted
            ) { _, _, _ in }
        }
        #expect(restored(changed, 10) == 0)
        // A block of another size is not read, whatever its name.
        for bytes in [9, 11] {
            #expect(cache.count(of: names, tokens: tokens, byteCount: bytes) == 0)
            #expect(restored(tokens, bytes) == 0)
        }
    }

    @Test("the limit is never exceeded, and what was used last stays")
    func limit() {
        let size = 1000 + PrefixCache.blockOverhead
        let cache = PrefixCache(model: Self.model, byteLimit: 5 * size + 10)
        let tokens = (0..<64).map { Int32($0) }
        let names = (0..<40).map { name(UInt8($0)) }
        func isThere(_ number: Int) -> Bool {
            cache.count(of: [names[number]], tokens: tokens, byteCount: 1000) == 1
        }
        for number in 0..<40 {
            cache.store(names[number], after: nil, tokens: tokens[...], byteCount: 1000) { to in
                // The others have left before the memory is taken.
                to.storeBytes(of: UInt8(number), as: UInt8.self)
            }
            #expect(cache.usage.bytes <= cache.byteLimit)
            #expect(cache.usage.blocks == min(number + 1, 5))
            // Block 0 is used again and again.
            var first: UInt8?
            let found = cache.restore(
                [names[0]], tokens: tokens, byteCount: 1000, check: DecoderSession.uninterrupted
            ) { first = $2[0] }
            #expect(found == 1 && first == 0)
        }
        #expect((0..<40).filter(isThere) == [0, 36, 37, 38, 39])
        #expect(cache.usage.evicted == 35)
        let small = PrefixCache(model: Self.model, byteLimit: size - 1)
        small.store(names[0], after: nil, tokens: tokens[...], byteCount: 1000) { _ in
            Issue.record("larger than the limit")
        }
        #expect(small.usage == PrefixCache.Usage())
    }

    @Test("a limit that holds a part of the conversation changes no id")
    func smallLimit() throws {
        try GenerationCase.tiny(.q4x0, isWindowed: true).open { model, adapter in
            let team = ComputeTeam(threadCount: 1)
            let weights = try GenerationWeights(model: model, team: team)
            let projections = GenerationProjections(weights, adapter: adapter)
            func session(_ prefixes: PrefixCache?) -> DecoderSession {
                DecoderSession(
                    projections, capacity: 700, team: team, compute: .fp32, prefixes: prefixes)
            }
            let cold = conversation(turns: 20, of: model.configuration) { session(nil) }
            for blocks in [1, 2, 4] {
                let size = 64 * 2 * 2 * 2 * 16 * 4 + PrefixCache.blockOverhead
                let cache = PrefixCache(model: Self.model, byteLimit: blocks * size)
                let found = conversation(turns: 20, of: model.configuration) { session(cache) }
                #expect(found.map(\.answer) == cold.map(\.answer))
                #expect(found.map(\.fingerprints) == cold.map(\.fingerprints))
                #expect(cache.usage.bytes <= cache.byteLimit)
                #expect(cache.usage.blocks == blocks)
            }
        }
    }

    @Test("threads that store and look up at once keep the limit")
    func threads() throws {
        let cache = PrefixCache(model: Self.model, byteLimit: 20_000)
        let tokens = (0..<64).map { Int32($0) }
        let names = (0..<64).map { name(UInt8($0)) }
        let wrong = Atomic<Int>(0)
        @Sendable func use(_ number: Int) {
            let byteCount = 500 + number
            cache.store(names[number], after: nil, tokens: tokens[...], byteCount: byteCount) {
                $0.initializeMemory(as: UInt8.self, repeating: UInt8(number), count: byteCount)
            }
            cache.restore(
                [names[number]], tokens: tokens, byteCount: byteCount,
                check: DecoderSession.uninterrupted
            ) { _, _, bytes in
                let isRight = bytes.count == byteCount && bytes.allSatisfy { $0 == number }
                if !isRight { wrong.add(1, ordering: .relaxed) }
            }
            if cache.usage.bytes > cache.byteLimit { wrong.add(1, ordering: .relaxed) }
        }
        // They begin each round together, whichever of them the system prefers.
        let (threads, rounds) = (4, 100)
        let arrivals = Condition(0)
        for thread in 0..<threads {
            try #require(
                SystemThread.start("meeting-\(thread)") {
                    for round in 0...rounds {
                        arrivals.change { $0 += 1 }
                        arrivals.wait { $0 >= threads * (round + 1) ? () : nil }
                        guard round < rounds else { return }
                        for piece in 0..<10 { use((thread + (round * 10 + piece) * 31) % 64) }
                    }
                })
        }
        arrivals.wait { $0 == threads * (rounds + 1) ? () : nil }
        #expect(wrong.load(ordering: .relaxed) == 0)
        #expect(cache.usage.evicted > 0)
    }
}
