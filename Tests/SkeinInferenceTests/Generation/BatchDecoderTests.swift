import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// What a sequence gets in company is what it gets alone, and memory stays within the plan.
@Suite struct BatchDecoderTests {
    /// More than a window's ring of slots.
    private static let context = 380

    /// All answers of requests that join in an order of their own, as soon as they fit.
    private func answers(
        _ requests: [BatchRequest], _ batch: BatchDecoder, _ adapters: [GenerationProjections],
        seed: UInt64
    ) -> [Int: BatchRequest.Answer] {
        var waiting = AddressedRandom(seed: seed, purpose: .benchmark)
            .permutation(count: requests.count).map { requests[$0] }
        var running: [BatchDecoder.SequenceID: BatchRequest.Answer] = [:]
        var done: [Int: BatchRequest.Answer] = [:]
        var steps: UInt32 = 0
        while !waiting.isEmpty || !running.isEmpty {
            // They come at random times, not all at once.
            let word = AddressedRandom(seed: seed, purpose: .sampling).block(steps).x
            steps += 1
            while let request = waiting.first, word % 3 == 0 || running.isEmpty {
                let admission = batch.admit(
                    prompt: request.prompt, maximumTokens: request.maximumTokens,
                    adapter: adapters[request.adapter])
                guard case .admitted(let id) = admission else {
                    #expect(!running.isEmpty, "\(admission)")
                    if running.isEmpty { return done }
                    break
                }
                waiting.removeFirst()
                running[id] = BatchRequest.Answer(request: request)
            }
            #expect(batch.cacheBytesInUse <= batch.plan.cacheBytes)
            batch.step(check: DecoderSession.uninterrupted) { logits in
                let (held, stated) = (batch.heldMemory, batch.memory)
                #expect(held.activationBytes <= stated.activationBytes)
                #expect(held.tableBytes <= stated.tableBytes)
                #expect(held.cacheBytes <= batch.cacheBytesInUse)
                #expect(held.prefixBytes <= stated.prefixBytes)
                guard var answer = running[logits.id] else { return }
                let fed = answer.next(after: logits.values)
                running[logits.id] = answer
                let cancels = answer.request.cancelsAfter.map { answer.ids.count > $0 } ?? false
                if let fed, !cancels {
                    #expect(batch.feed(logits.id, fed) == .fed)
                    return
                }
                done[answer.request.number] = answer
                running[logits.id] = nil
                batch.leave(logits.id)
            }
        }
        #expect(batch.isIdle && batch.count == 0 && batch.cacheBytesInUse == 0)
        return done
    }

    /// Whose time goes on by up to 20 ms each time that it is asked: prompts get parts of all lengths.
    private static func clock(seed: UInt64) -> () -> Double {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        var (seconds, calls) = (0.0, UInt32(0))
        return {
            calls += 1
            seconds += 0.02 * Double(AddressedRandom.unitFloat(random.block(1, calls).x))
            return seconds
        }
    }

    @Test("requests have the same ids alone and in any company", arguments: GenerationCase.all)
    func company(tested: GenerationCase) throws {
        try tested.open { model, adapter in
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, compute: .int8, team: team)
            var other = adapter
            other.values = other.values.map { -$0 }
            var all = [nil, adapter, other]
            if case .tiny = tested {
                all.append(GenerationCase.adapter(model.configuration, rank: 17, seed: 8))
            }
            let adapters = all.map { GenerationProjections(weights, adapter: $0) }
            let requests = (0..<20).map {
                BatchRequest($0, of: model.configuration, adapters: adapters.count, longest: 220)
            }
            // In fp32 a window's ring of 16 + 256 slots is written over.
            #expect(requests.contains { $0.prompt.count + $0.maximumTokens > 290 })
            for (compute, type) in [
                (ComputeType.fp32, CacheType.fp32), (.bf16, .int8), (.int8, .bf16),
            ] {
                let alone = requests.map {
                    $0.alone(adapters, team: team, compute: compute, cacheType: type)
                }
                for (seed, rows, promptTokens, threads) in [
                    (1, 16, 7, 2), (2, 3, 1, 1), (3, 5, nil, 3),
                ] as [(UInt64, Int, Int?, Int)] {
                    let prefixes = PrefixCache(
                        model: SHA256.digest(of: [1]),
                        byteLimit: [0, 1 << 23, 1 << 19][Int(seed - 1)])
                    let plan = BatchPlan(
                        model: model.configuration, sequences: 7, context: Self.context, rows: rows,
                        rank: 17, compute: compute, cacheType: type, promptTokens: promptTokens)
                    let batch = BatchDecoder(
                        weights: weights, plan: plan, team: ComputeTeam(threadCount: threads),
                        prefixes: prefixes, clock: Self.clock(seed: seed))
                    let found = answers(requests, batch, adapters, seed: seed)
                    for (request, expected) in zip(requests, alone) {
                        #expect(
                            expected.isConfirmed(by: found[request.number]),
                            "request \(request.number), seed \(seed)")
                    }
                    #expect(prefixes.usage.bytes <= prefixes.byteLimit)
                    #expect(prefixes.usage.hits > 0 || seed != 2)
                }
            }
        }
    }

    @Test(
        "hundreds of requests have the same ids alone and in company", arguments: GenerationCase.few
    )
    func manyRequests(tested: GenerationCase) throws {
        try tested.open { model, adapter in
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, team: team)
            let adapters = [nil, adapter].map { GenerationProjections(weights, adapter: $0) }
            let requests = (0..<500).map {
                BatchRequest($0, of: model.configuration, adapters: 2, longest: 20)
            }
            let plan = BatchPlan(
                model: model.configuration, sequences: 24, context: 180, rank: 3, promptTokens: 40)
            let batch = BatchDecoder(
                weights: weights, plan: plan, team: team,
                prefixes: PrefixCache(model: SHA256.digest(of: [1]), byteLimit: 1 << 19))
            let found = answers(requests, batch, adapters, seed: 4)
            for request in requests {
                let expected = request.alone(
                    adapters, team: team, compute: .fp32, cacheType: .fp32)
                #expect(
                    expected.isConfirmed(by: found[request.number]), "request \(request.number)")
            }
        }
    }

    private func open(
        _ tested: GenerationCase = .tiny(.q4x0, isWindowed: true),
        _ body: (GenerationWeights, GenerationProjections, ComputeTeam) throws -> Void
    ) throws {
        try tested.open { model, adapter in
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, team: team)
            try body(weights, GenerationProjections(weights, adapter: adapter), team)
        }
    }

    @Test("who does not fit gets an answer that says why, and who leaves makes room")
    func admission() throws {
        try open { weights, adapter, team in
            let model = weights.configuration
            var plan = BatchPlan(model: model, sequences: 2, context: 100, rank: 3)
            #expect(plan.cacheBytes == 2 * plan.sequenceBytes(100, of: model))
            plan.cacheBytes = plan.sequenceBytes(90, of: model) + 1
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            let bytes = { (tokens: Int) in plan.sequenceBytes(tokens, of: model) }
            func admit(_ prompt: Int, _ answer: Int) -> BatchDecoder.Admission {
                batch.admit(
                    prompt: GenerationCase.tokens(prompt, of: model), maximumTokens: answer,
                    adapter: adapter)
            }
            #expect(admit(0, 5) == .emptyPrompt)
            for token in [-1, Int32(model.vocabularySize), .max] {
                let refused = batch.admit(
                    prompt: [1, token], maximumTokens: 1, adapter: adapter)
                #expect(refused == .unknownToken(token, limit: model.vocabularySize))
            }
            #expect(admit(60, 41) == .tooLong(tokens: 101, limit: 100))
            #expect(admit(60, .max) == .tooLong(tokens: .max, limit: 100))
            #expect(admit(60, 40) == .tooLarge(neededBytes: bytes(100), limit: plan.cacheBytes))
            guard case .admitted(let first) = admit(20, 12) else {
                Issue.record("it fits")
                return
            }
            #expect(batch.cacheBytesInUse == bytes(32))
            #expect(
                admit(60, 30)
                    == .full(
                        neededBytes: bytes(90), freeBytes: plan.cacheBytes - bytes(32),
                        freeSequences: 1))
            guard case .admitted = admit(3, 3) else {
                Issue.record("it fits")
                return
            }
            let free = plan.cacheBytes - batch.cacheBytesInUse
            #expect(
                admit(3, 3)
                    == .full(neededBytes: bytes(6), freeBytes: free, freeSequences: 0))
            batch.leave(first)
            batch.leave(first)
            guard case .admitted(let third) = admit(3, 3) else {
                Issue.record("it fits")
                return
            }
            #expect(third != first)
            let large = GenerationProjections(
                weights, adapter: GenerationCase.adapter(model, rank: 4, seed: 2))
            #expect(
                batch.admit(prompt: [1], maximumTokens: 1, adapter: large)
                    == .rankTooLarge(rank: 4, limit: 3))
        }
    }

    @Test("a step that was ended is done by the next one", arguments: [1, 3, 4, 5])
    func ended(calls: Int) throws {
        try open { weights, adapter, team in
            let plan = BatchPlan(
                model: weights.configuration, sequences: 4, context: 200, rank: 3,
                promptTokens: 30)
            func run(interrupting: Bool) throws -> [[Int32]] {
                let batch = BatchDecoder(weights: weights, plan: plan, team: team)
                var ids: [BatchDecoder.SequenceID: [Int32]] = [:]
                var order: [BatchDecoder.SequenceID] = []
                for length in [5, 70, 40] {
                    let prompt = GenerationCase.tokens(length, of: weights.configuration)
                    let admission = batch.admit(
                        prompt: prompt, maximumTokens: 10, adapter: adapter)
                    guard case .admitted(let id) = admission else { continue }
                    order.append(id)
                    ids[id] = []
                }
                var left = calls
                while !batch.isIdle {
                    do {
                        try batch.step {
                            left -= 1
                            if interrupting, left % 6 == 0 { throw CancellationError() }
                        } _: { logits in
                            let token = Sampler().pick(
                                logits.values, position: ids[logits.id]?.count ?? 0)
                            ids[logits.id]?.append(token)
                            if ids[logits.id]?.count ?? 0 < 10 { batch.feed(logits.id, [token]) }
                        }
                    } catch is CancellationError {}
                }
                return order.map { ids[$0] ?? [] }
            }
            let found = try run(interrupting: true)
            #expect(try run(interrupting: false) == found)
            #expect(found.map(\.count) == [10, 10, 10])
        }
    }

    @Test(
        "wrong guesses leave no trace",
        arguments: [
            GenerationCase.tiny(.q4x0, isWindowed: true), .family("phi3"), .family("gemma3_text"),
        ])
    func guesses(tested: GenerationCase) throws {
        try open(tested) { weights, adapter, team in
            let model = weights.configuration
            let request = BatchRequest(1, of: model, adapters: 1, longest: 8)
            let prompt = Array(request.prompt.suffix(9))
            let plan = BatchPlan(model: model, sequences: 2, context: 400, rank: 16)
            func answer(guessing: Bool) -> [Int32] {
                let batch = BatchDecoder(weights: weights, plan: plan, team: team)
                guard
                    case .admitted(let id) = batch.admit(
                        prompt: prompt, maximumTokens: 330, adapter: adapter)
                else { return [] }
                var ids: [Int32] = []
                var guess: [Int32] = []
                while ids.count < 320 {
                    var accepted: [Int32] = []
                    var isWrong = false
                    batch.step(check: DecoderSession.uninterrupted) { logits in
                        // Rows behind a wrong guess are not wanted.
                        if isWrong { return }
                        let token = Sampler().pick(
                            logits.values, position: ids.count + accepted.count)
                        accepted.append(token)
                        let next = (logits.index ?? 0) + 1
                        isWrong = next < guess.count && guess[next] != token
                    }
                    if accepted.isEmpty { continue }
                    let known = prompt.count + ids.count + accepted.count - 1
                    #expect(batch.truncate(id, to: known))
                    ids += accepted
                    guess = [accepted[accepted.count - 1]]
                    let room = min(4, batch.guessRoom(of: id) - 1)
                    if guessing, room > 0 {
                        // Right ones, if the answer repeats itself, and wrong ones.
                        guess += ids.suffix(9).prefix(room)
                    }
                    batch.feed(id, guess, wantsEach: true)
                }
                return Array(ids.prefix(320))
            }
            let alone = answer(guessing: false)
            #expect(alone.count == 320)
            #expect(answer(guessing: true) == alone)
        }
    }
}
