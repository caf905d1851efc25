import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// What may not change a bit of a prompt or of an answer: into how many calls it is cut.
@Suite struct ExactReadingTests {
    /// More than a block of fp32 and more than a window's ring of slots.
    private static let promptTokens = 330
    private static let answerTokens = 7

    private func session(
        _ weights: GenerationWeights, _ adapter: AdapterParameters?, _ team: ComputeTeam,
        _ compute: ComputeType = .fp32, rows: Int = 1
    ) -> DecoderSession {
        DecoderSession(
            weights: weights, adapter: adapter,
            capacity: Self.promptTokens + Self.answerTokens + 40, team: team, compute: compute,
            answerRows: rows)
    }

    /// Ends of calls: random ones, with calls of one token among them.
    private func cuts(_ count: Int, seed: UInt64) -> [Int] {
        var ends: [Int] = []
        var end = 0
        while end < count {
            let word = AddressedRandom(seed: seed, purpose: .sampling).block(UInt32(ends.count)).x
            end = min(count, end + (word % 3 == 0 ? 1 : Int(word >> 8) % 150 + 1))
            ends.append(end)
        }
        return ends
    }

    /// The prompt's logits, and those of an answer behind it, which see all its keys and values.
    private func logits(
        _ session: DecoderSession, _ prompt: [Int32], ends: [Int], answer: [Int32]
    ) -> [[Float]] {
        session.expectedLength = prompt.count
        var last: [Float] = []
        var first = 0
        for end in ends {
            last = session.logits(after: Array(prompt[first..<end]))
            first = end
        }
        return [last] + answer.map { session.logits(after: [$0], as: .answer) }
    }

    @Test(
        "how a prompt is cut into calls changes no bit", arguments: GenerationCase.all,
        ComputeType.allCases)
    func cutPrompt(tested: GenerationCase, compute: ComputeType) throws {
        try tested.open { model, adapter in
            let prompt = GenerationCase.tokens(Self.promptTokens, of: model.configuration)
            let answer = GenerationCase.tokens(Self.answerTokens, of: model.configuration, seed: 9)
            let teams = [1, 3].map { ComputeTeam(threadCount: $0) }
            let weights = try GenerationWeights(model: model, compute: compute, team: teams[0])
            for adapter in [nil, adapter] {
                let whole = logits(
                    session(weights, adapter, teams[0], compute), prompt, ends: [prompt.count],
                    answer: answer)
                #expect(whole.allSatisfy { $0.allSatisfy(\.isFinite) })
                for seed in [1, 2] as [UInt64] {
                    let ends = cuts(prompt.count, seed: seed)
                    let found = logits(
                        session(weights, adapter, teams[Int(seed) % 2], compute), prompt,
                        ends: ends, answer: answer)
                    #expect(found == whole, "ends \(ends), seed \(seed)")
                }
            }
        }
    }

    @Test("a prompt of one token is read by the prompt's kernels", arguments: ComputeType.allCases)
    func oneToken(compute: ComputeType) throws {
        try GenerationCase.tiny(.q4x0, isWindowed: false).open { model, _ in
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, compute: compute, team: team)
            let one = session(weights, nil, team, compute)
            _ = one.logits(after: [5])
            #expect(one.sequence.exactCount == 1)
            _ = one.logits(after: [6], as: .answer)
            _ = one.logits(after: [7])
            // The cache holds an answer's token now.
            #expect(one.sequence.exactCount == 1)
            one.truncate(to: 1)
            let again = one.logits(after: [6, 7])
            #expect(one.sequence.exactCount == 3)
            let whole = session(weights, nil, team, compute)
            #expect(whole.logits(after: [5, 6, 7]) == again)
        }
    }

    @Test(
        "tokens of an answer have the same bits in one call and in many",
        arguments: GenerationCase.all)
    func cutAnswer(tested: GenerationCase) throws {
        try tested.open { model, adapter in
            let prompt = GenerationCase.tokens(40, of: model.configuration)
            // phi3's rows are turned otherwise from token 25 on.
            let starts = [20, prompt.count]
            let answer = GenerationCase.tokens(290, of: model.configuration, seed: 9)
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(model: model, team: team)
            for adapter in [nil, adapter] {
                for start in starts {
                    let stepwise = session(weights, adapter, team)
                    _ = stepwise.logits(after: Array(prompt[..<start]))
                    let expected = answer.map { stepwise.logits(after: [$0], as: .answer) }
                    for rows in [3, 16] {
                        let atOnce = session(weights, adapter, team, rows: rows)
                        _ = atOnce.logits(after: Array(prompt[..<start]))
                        var first = 0
                        for end in cuts(answer.count, seed: UInt64(rows)) {
                            let some = Array(answer[first..<end])
                            if end % 2 == 0 {
                                #expect(
                                    atOnce.logits(after: some, as: .answer) == expected[end - 1])
                            } else {
                                var found: [[Float]] = []
                                atOnce.withLogits(
                                    afterEach: some, check: DecoderSession.uninterrupted
                                ) { found.append([Float($0)] + $1) }
                                let rows = some.indices.map { [Float($0)] + expected[first + $0] }
                                #expect(found == rows)
                            }
                            first = end
                        }
                        #expect(atOnce.sequence.tokens == stepwise.sequence.tokens)
                    }
                }
            }
        }
    }
}
