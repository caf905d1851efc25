import SkeinBasics
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// No order of calls traps or leaves a trace: what cannot be done is refused.
@Suite struct BatchMisuseTests {
    private struct Stopped: Error {}

    @Test("what is unread behind a cut is not read, and the sequence is fed anew at once")
    func cutInTheMiddle() throws {
        try GenerationCase.tiny(.q4x0, isWindowed: true).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let plan = BatchPlan(model: model, sequences: 4, context: 200, rows: 4)
            let prompt = GenerationCase.tokens(20, of: model)
            let guess = GenerationCase.tokens(10, of: model, seed: 9)
            let alone = BatchDecoder(weights: weights, plan: plan, team: team)
            let one = try #require(alone.join(prompt, 100, base))
            alone.drain()
            alone.feed(one, Array(guess[..<2]))
            alone.drain()
            alone.feed(one, [7])
            let expected = alone.drain()[one]
            // Cut at the row that is given, in the middle of a pass, and at its end.
            for (last, cut) in [(1, 22), (3, 22), (2, 22)] {
                let batch = BatchDecoder(weights: weights, plan: plan, team: team)
                let id = try #require(batch.join(prompt, 100, base))
                batch.drain()
                #expect(batch.feed(id, guess, wantsEach: true) == .fed)
                var indices: [Int?] = []
                batch.step(check: DecoderSession.uninterrupted) { logits in
                    indices.append(logits.index)
                    guard logits.index == last else { return }
                    #expect(batch.feed(id, [7]) == .busy)
                    #expect(batch.truncate(id, to: cut))
                    #expect(batch.tokenCount(of: id) == cut)
                    #expect(batch.feed(id, [7]) == .fed)
                }
                #expect(indices == Array(0...last), "no logits of what was cut")
                #expect(batch.unreadAnswerTokens(of: id) == 1)
                #expect(batch.drain()[id] == expected)
                #expect(batch.tokenCount(of: id) == cut + 1)
            }
            // The unread rest of a run may be cut alone.
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            let id = try #require(batch.join(prompt, 100, base))
            batch.drain()
            batch.feed(id, Array(guess[..<2] + guess[5...]))
            batch.step(check: DecoderSession.uninterrupted) { _ in }
            #expect(batch.unreadAnswerTokens(of: id) == 3)
            #expect(batch.truncate(id, to: batch.tokenCount(of: id)))
            #expect(batch.isIdle && batch.truncate(id, to: 22) && batch.feed(id, [7]) == .fed)
            #expect(batch.drain()[id] == expected)
        }
    }

    @Test("what cannot be fed is refused with a reason, and changes nothing")
    func refused() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let plan = BatchPlan(
                model: model, sequences: 2, context: 100, rows: 2, promptTokens: 30)
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            let id = try #require(batch.join(GenerationCase.tokens(70, of: model), 5, base))
            for unread in [70, 40, 10] {
                #expect(batch.unreadPromptTokens(of: id) == unread)
                #expect(batch.feed(id, [1]) == .busy)
                #expect(!batch.truncate(id, to: 0))
                batch.step(check: { #expect(!batch.truncate(id, to: 0)) }) { _ in
                    #expect(
                        batch.step(check: { Issue.record("a step within a step") }) { _ in }
                            == BatchDecoder.Step())
                }
            }
            #expect(batch.unreadPromptTokens(of: id) == 0 && batch.isIdle)
            #expect(batch.feed(id, []) == .noTokens)
            for token in [-1, .min, .max, Int32(model.vocabularySize)] {
                #expect(
                    batch.feed(id, [1, token])
                        == .unknownToken(token, limit: model.vocabularySize))
            }
            #expect(batch.feed(id, [1, 2, 3, 4, 5, 6]) == .tooLong(tokens: 6, room: 5))
            for place in [-1, .min, 71, .max] { #expect(!batch.truncate(id, to: place)) }
            #expect(batch.feed(id, [1, 2, 3, 4, 5], wantsEach: true) == .fed)
            #expect(batch.feed(id, [1]) == .busy)
            batch.drain()
            // A full row.
            #expect(batch.feed(id, [1]) == .tooLong(tokens: 1, room: 0))
            batch.leave(id)
            batch.leave(id)
            #expect(batch.feed(id, [1]) == .unknownSequence)
            #expect(!batch.truncate(id, to: 0))
            #expect(batch.unreadPromptTokens(of: id) == 0 && batch.tokenCount(of: id) == 0)
        }
    }

    @Test("a prompt that is told is neither cut nor followed before its last token was told")
    func told() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let plan = BatchPlan(model: model, sequences: 2, context: 100, promptTokens: 6)
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            let prompt = GenerationCase.tokens(10, of: model)
            let admission = batch.admit(
                prompt: prompt, maximumTokens: 5, adapter: base, tellsPrompt: true)
            guard case .admitted(let id) = admission else {
                Issue.record("not admitted: \(admission)")
                return
            }
            var told: [Int?] = []
            while told.count < 10 {
                batch.step(check: {
                    #expect(!batch.truncate(id, to: 0))
                    #expect(batch.feed(id, [1]) == .busy)
                }) { logits in
                    // What it was fed behind the last one is read in the same step.
                    if logits.promptPosition == nil { return }
                    told.append(logits.promptPosition)
                    #expect(!batch.truncate(id, to: 0))
                    #expect(batch.feed(id, [1]) == (told.count < 10 ? .busy : .fed))
                }
            }
            #expect(told == Array(0..<10))
            batch.drain()
            #expect(batch.tokenCount(of: id) == 11)
        }
    }

    @Test("one that leaves while it is read does not come back")
    func leavesInTheMiddle() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let plan = BatchPlan(model: model, sequences: 2, context: 100)
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            for isPrompt in [true, false] {
                let id = try #require(batch.join([1, 2, 3], 5, base))
                if !isPrompt {
                    batch.drain()
                    batch.feed(id, [1, 2])
                }
                batch.step(check: { batch.leave(id) }) { _ in Issue.record("it has left") }
                #expect(batch.count == 0 && batch.cacheBytesInUse == 0 && batch.isIdle)
            }
        }
    }

    /// What a member was fed and where it was cut, as far as that was accepted.
    private enum Deed {
        case fed([Int32])
        case cut(Int)
    }

    @Test("any order of calls leaves what its accepted calls alone leave", arguments: 1...12)
    func anyOrder(seed: UInt64) throws {
        try GenerationCase.tiny(.q4x0, isWindowed: true).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let plan = BatchPlan(
                model: model, sequences: 4, context: 150, rows: 3,
                promptTokens: seed % 2 == 0 ? 20 : nil)
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            var deeds: [BatchDecoder.SequenceID: [Deed]] = [:]
            var ids: [BatchDecoder.SequenceID] = []
            var calls: UInt32 = 0
            func word(_ limit: Int) -> Int {
                calls += 1
                let word = AddressedRandom(seed: seed, purpose: .sampling).block(calls).x
                return Int(word >> 4) % limit
            }
            func anything() {
                guard let id = ids.isEmpty ? nil : ids[word(ids.count)] else { return join() }
                switch word(9) {
                case 0: join()
                case 1...4:
                    let tokens = GenerationCase.tokens(word(9), of: model, seed: word(50))
                    let isKnown = word(20) > 0
                    let fed = isKnown ? tokens : tokens + [-1]
                    let each = word(2) == 0
                    if batch.feed(id, fed, wantsEach: each) == .fed { deeds[id]?.append(.fed(fed)) }
                case 5...6:
                    let place = batch.tokenCount(of: id) - word(6) + 1
                    if batch.truncate(id, to: place) { deeds[id]?.append(.cut(place)) }
                case 7 where word(8) == 0:
                    batch.leave(id)
                    deeds[id] = nil
                default: batch.step(check: DecoderSession.uninterrupted) { _ in anything() }
                }
            }
            func join() {
                let prompt = GenerationCase.tokens(1 + word(60), of: model, seed: word(9))
                guard let id = batch.join(prompt, 60, base) else { return }
                ids.append(id)
                deeds[id] = [.fed(prompt)]
            }
            for _ in 0..<250 {
                anything()
                let stops = word(5) == 0
                do {
                    try batch.step {
                        if word(30) == 0 { anything() }
                        if stops, word(3) == 0 { throw Stopped() }
                    } _: { _ in
                        anything()
                        if stops, word(4) == 0 { throw Stopped() }
                    }
                } catch is Stopped {}
            }
            batch.drain()
            #expect(!deeds.isEmpty)
            for (id, deeds) in deeds {
                guard batch.truncate(id, to: min(batch.tokenCount(of: id), 119)) else { continue }
                let known = batch.tokenCount(of: id)
                guard batch.feed(id, [3]) == .fed else { continue }
                let found = batch.drain()[id]
                // The same alone, one deed after the other.
                let alone = BatchDecoder(weights: weights, plan: plan, team: team)
                var one: BatchDecoder.SequenceID?
                for deed in deeds {
                    switch deed {
                    case .fed(let tokens):
                        if let one {
                            alone.feed(one, tokens)
                        } else {
                            one = alone.join(tokens, 60, base)
                        }
                    case .cut(let place):
                        #expect(alone.truncate(try #require(one), to: place))
                    }
                    alone.drain()
                }
                let last = try #require(one)
                #expect(alone.truncate(last, to: known), "seed \(seed)")
                #expect(alone.feed(last, [3]) == .fed)
                #expect(alone.drain()[last] == found, "seed \(seed)")
            }
        }
    }
}
