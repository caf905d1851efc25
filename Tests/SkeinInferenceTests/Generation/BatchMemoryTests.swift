import SkeinBasics
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// What is stated is an upper bound of what is held; `BatchDecoderTests` counts it in every step.
@Suite struct BatchMemoryTests {
    @Test("memory is stated before anything is loaded, and 8 bits need least")
    func stated() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).open { model, _ in
            let model = model.configuration
            let bytes = CacheType.allCases.map { type in
                BatchPlan(model: model, sequences: 4, context: 256, cacheType: type)
                    .memoryBytes(of: model, threads: 2)
            }
            #expect(bytes[0] > bytes[1] && bytes[1] > bytes[2])
            let one = BatchPlan(model: model, sequences: 1, context: 256)
            let five = BatchPlan(model: model, sequences: 5, context: 256)
            #expect(
                five.memory(of: model, threads: 2).cacheBytes
                    - one.memory(of: model, threads: 2).cacheBytes
                    == 4 * one.sequenceBytes(256, of: model))
            // 2 layers of 2 heads of 16 for keys and for values, and 16 bytes for the token.
            let token = 2 * 2 * 2 * 16 * 4 + BatchPlan.tokenBytes
            #expect(
                one.sequenceBytes(256, of: model) - one.sequenceBytes(240, of: model) == 16 * token)
        }
    }

    @Test(
        "all that is held is within the statement, kind by kind", arguments: GenerationCase.all,
        [ComputeType.fp32, .int8])
    func held(tested: GenerationCase, compute: ComputeType) throws {
        try tested.open { model, adapter in
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, compute: compute, team: team)
            let adapters = [nil, adapter].map { GenerationProjections(weights, adapter: $0) }
            #expect(adapters[1].byteCount > adapters[0].byteCount)
            #expect(adapters[1].byteCount == GenerationProjections.byteCount(of: adapter.shape))
            let plan = BatchPlan(
                model: model.configuration, sequences: 2, context: 200, rank: adapters[1].rank,
                compute: compute)
            let prefixes = PrefixCache(model: SHA256.digest(of: [1]), byteLimit: 1 << 17)
            let batch = BatchDecoder(
                weights: weights, plan: plan, team: team, prefixes: prefixes)
            let stated = batch.memory
            #expect(
                stated.total == batch.plan.memoryBytes(of: model.configuration, threads: 2)
                    + weights.byteCount + prefixes.byteLimit)
            func check() {
                let held = batch.heldMemory
                #expect(held.weightBytes <= stated.weightBytes)
                #expect(held.activationBytes <= stated.activationBytes)
                #expect(held.tableBytes == stated.tableBytes)
                #expect(held.cacheBytes <= batch.cacheBytesInUse)
                #expect(batch.cacheBytesInUse <= stated.cacheBytes)
                #expect(held.prefixBytes <= stated.prefixBytes)
            }
            for adapter in adapters {
                let prompt = GenerationCase.tokens(100, of: model.configuration)
                let id = try #require(batch.join(prompt, 100, adapter))
                check()
                batch.drain()
                check()
                // phi3's row is turned otherwise and read again on its way.
                batch.feed(id, GenerationCase.tokens(100, of: model.configuration, seed: 2))
                while !batch.isIdle {
                    batch.step(check: check) { _ in check() }
                    check()
                }
            }
        }
    }

    @Test("who leaves in the closure is gone when another joins there", arguments: [true, false])
    func leavesAndJoins(isPrompt: Bool) throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights { weights, _ in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let plan = BatchPlan(model: model, sequences: 1, context: 200)
            let batch = BatchDecoder(
                weights: weights, plan: plan, team: ComputeTeam(threadCount: 1))
            let prompt = GenerationCase.tokens(20, of: model)
            let id = try #require(batch.join(prompt, 180, base))
            weak let old = batch.members[id]?.sequence
            if !isPrompt {
                batch.drain()
                batch.feed(id, [1, 2, 3])
            }
            var calls = 0
            batch.step(check: DecoderSession.uninterrupted) { logits in
                guard logits.id == id else { return }
                calls += 1
                #expect(old != nil)
                batch.leave(id)
                #expect(old == nil)
                #expect(batch.join(prompt, 180, base) != nil)
                #expect(batch.heldMemory.cacheBytes <= batch.cacheBytesInUse)
            }
            #expect(calls == 1)
        }
    }

    @Test("sizes out of every range become the nearest, and sums end at the largest number")
    func hostileSizes() throws {
        try GenerationCase.tiny(.f32, isWindowed: true).openWeights { weights, team in
            let model = weights.configuration
            for size in [Int.min, -1, 0, 1, 1 << 40, .max / 2, .max] {
                for compute in ComputeType.allCases {
                    var plan = BatchPlan(
                        model: model, sequences: size, context: size, rows: size, rank: size,
                        compute: compute, promptTokens: size)
                    #expect(plan == plan.bounded && plan.sequences > 0 && plan.rows > 0)
                    #expect(plan.rows <= GenerationPass.blockTokens(compute))
                    #expect(plan.memoryBytes(of: model, threads: size) > 0)
                    #expect(plan.sequenceBytes(size, of: model) > 0)
                    (plan.sequences, plan.context, plan.rows) = (size, size, size)
                    (plan.rank, plan.cacheBytes, plan.promptTokens) = (size, size, size)
                    let total = plan.memory(of: model, threads: size, prefixBytes: size).total
                    #expect(total > 0 && (size < .max || total == .max))
                }
            }
            // A plan that was changed afterwards.
            var plan = BatchPlan(model: model, sequences: 1, context: 100)
            (plan.rows, plan.promptTokens, plan.rank) = (0, 0, -1)
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            let base = GenerationProjections(weights, adapter: nil)
            let id = try #require(batch.join([1, 2, 3], 9, base))
            batch.drain()
            #expect(batch.feed(id, [1, 2]) == .fed)
            #expect(batch.drain()[id] != nil)
        }
    }
}
