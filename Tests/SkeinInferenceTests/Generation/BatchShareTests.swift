import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// No sequence waits for another's long run, or for many short prompts.
@Suite struct BatchShareTests {
    @Test("each gets a row before any gets a second one; the rest is shared")
    func shares() {
        let cases: [(rows: Int, counts: [Int], expected: [Int])] = [
            (16, [], []), (16, [1], [1]), (4, [100], [4]), (16, [100, 1], [15, 1]),
            (16, [100, 3, 100], [7, 3, 6]), (3, [9, 9, 9], [1, 1, 1]), (8, [2, 2], [2, 2]),
        ]
        for (rows, counts, expected) in cases {
            #expect(BatchDecoder.shares(of: rows, among: counts) == expected)
        }
    }

    @Test("a long run takes the rows of a step that others leave, and one pass of them")
    func longRun() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let plan = BatchPlan(model: model, sequences: 4, context: 2000, rows: 8)
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            let long = try #require(batch.join([1, 2], 1900, base))
            let short = try #require(batch.join([3, 2], 60, base))
            batch.drain()
            batch.feed(long, GenerationCase.tokens(1600, of: model))
            for round in 1...20 {
                batch.feed(short, [1])
                var (checks, given) = (0, [BatchDecoder.SequenceID]())
                let step = batch.step(check: { checks += 1 }) { given.append($0.id) }
                #expect(given == [short])
                #expect(step.answerTokens == 8 && checks == model.layerCount)
                #expect(batch.tokenCount(of: long) == 2 + 7 * round)
            }
        }
    }

    @Test("a first token is followed by the second, not by the rest of others' prompts")
    func secondToken() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let plan = BatchPlan(model: model, sequences: 4, context: 1000)
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            let short = try #require(batch.join([1, 2, 3], 20, base))
            _ = try #require(batch.join(GenerationCase.tokens(600, of: model), 20, base))
            var given = 0
            let step = batch.step(check: DecoderSession.uninterrupted) {
                #expect($0.id == short)
                given += 1
                if given == 1 { batch.feed(short, [4]) }
            }
            #expect(given == 2)
            #expect(step == BatchDecoder.Step(promptTokens: 3, answerTokens: 1))
        }
    }

    @Test("more sequences than rows take turns")
    func turns() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            let plan = BatchPlan(model: model, sequences: 7, context: 60, rows: 3)
            let batch = BatchDecoder(weights: weights, plan: plan, team: team)
            let ids = try (0..<7).map { try #require(batch.join([Int32($0)], 40, base)) }
            batch.drain()
            var given: [BatchDecoder.SequenceID: Int] = [:]
            for id in ids { batch.feed(id, [1]) }
            for _ in 0..<70 {
                batch.step(check: DecoderSession.uninterrupted) {
                    given[$0.id, default: 0] += 1
                    batch.feed($0.id, [1])
                }
            }
            #expect(ids.allSatisfy { given[$0] == 30 })
        }
    }

    @Test("many short prompts are charged as blocks, so that answers do not wait for all of them")
    func shortPrompts() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights { weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            var plan = BatchPlan(model: model, sequences: 64, context: 128)
            for (promptTokens, most) in [(nil, 4), (40, 5), (1, 1)] as [(Int?, Int)] {
                plan.promptTokens = promptTokens
                // The clock stands still: nothing is measured.
                let batch = BatchDecoder(weights: weights, plan: plan, team: team, clock: { 0 })
                let id = try #require(batch.join([1, 2], 60, base))
                batch.drain()
                for token in 0..<40 { _ = batch.join([Int32(token)], 4, base) }
                while batch.unreadPromptTokens(of: id) == 0, !batch.isIdle {
                    batch.feed(id, [1])
                    var prompts = 0
                    batch.step(check: DecoderSession.uninterrupted) {
                        if $0.index == nil { prompts += 1 }
                    }
                    #expect(prompts <= most)
                }
            }
        }
    }

    @Test("prompts give way to answers, as much as their pace demands")
    func pace() {
        var pace = PromptPace(limit: 0.05)
        #expect(pace.tokens == 32)
        pace.noteBlock(100, seconds: 0.1)
        #expect(pace.tokens == 40)
        pace.noteAnswers(seconds: 0.025)
        #expect(pace.tokens == 20)
        pace.noteBlock(100, seconds: 0.2)
        #expect(pace.tokens == 15)
        // Answers that take longer than the limit themselves leave prompts a share.
        pace.noteAnswers(seconds: 0.04)
        #expect(pace.tokens == 12)
        pace.noteAnswers(seconds: 7)
        #expect(pace.tokens == 30)
        pace.noteAnswers(seconds: 0)
        pace.noteBlock(0, seconds: 1)
        pace.noteBlock(1000, seconds: 1e-12)
        #expect(pace.tokens == 1_000_000)
        #expect([-5, 1, 8, 9].map(PromptPace.charge) == [8, 8, 8, 9])
    }

    @Test("no measure of time makes a pace that is not a number")
    func hostileClock() {
        let numbers = [
            0, -1, 1e-300, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity,
            -.infinity, .nan,
        ]
        for limit in numbers {
            for block in numbers {
                for answers in numbers {
                    var pace = PromptPace(limit: limit)
                    for tokens in [64, 64, .max] { pace.noteBlock(tokens, seconds: block) }
                    pace.noteAnswers(seconds: answers)
                    #expect((8...1_000_000).contains(pace.tokens))
                }
            }
        }
    }
}
