import SkeinBasics
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// Restoring a beginning from the prefix cache ends, between two blocks, when it is no longer
/// wanted.
@Suite struct PrefixCancellationTests {
    private struct Stopped: Error {}

    /// Five blocks and 30 tokens, of which the cache has the blocks; and the logits of its last token.
    private func open(
        _ body: (
            _ cache: PrefixCache, [Int32], _ logits: [Float], GenerationProjections, ComputeTeam
        )
            throws -> Void
    ) throws {
        try GenerationCase.tiny(.q4x0, isWindowed: true).openWeights { weights, team in
            let base = GenerationProjections(weights, adapter: nil)
            let prompt = GenerationCase.tokens(350, of: weights.configuration)
            let cache = PrefixCache(model: SHA256.digest(of: [1]), byteLimit: 1 << 24)
            let first = DecoderSession(
                base, capacity: 400, team: team, compute: .fp32, prefixes: cache)
            let logits = first.withLogits(
                ofPrompt: prompt, check: DecoderSession.uninterrupted
            ) { Array($0) }
            #expect(cache.usage.blocks == 5 && cache.usage.hits == 0)
            try body(cache, prompt, logits, base, team)
        }
    }

    /// A check that throws once it was asked more than `calls` times.
    private func patience(_ calls: Int) -> () throws -> Void {
        var left = calls
        return {
            left -= 1
            if left < 0 { throw Stopped() }
        }
    }

    @Test("a session restores block by block, and begins anew after a check that threw")
    func session() throws {
        try open { cache, prompt, logits, base, team in
            let session = DecoderSession(
                base, capacity: 400, team: team, compute: .fp32, prefixes: cache)
            for calls in 0..<5 {
                #expect(throws: Stopped.self) {
                    try session.withLogits(ofPrompt: prompt, check: patience(calls)) { _ in }
                }
                #expect(session.count == 0 && session.tokensComputed == 0)
                #expect(cache.usage.hits == 0)
            }
            // The sixth question is asked before the first layer of what is new.
            #expect(throws: Stopped.self) {
                try session.withLogits(ofPrompt: prompt, check: patience(5)) { _ in }
            }
            #expect(session.count == 320 && cache.usage.hits == 5)
            let found = session.withLogits(
                ofPrompt: prompt, check: DecoderSession.uninterrupted
            ) { Array($0) }
            #expect(found == logits)
            #expect(session.tokensComputed == 30)
            // Another row where a restoring broke off.
            let other = DecoderSession(
                base, capacity: 400, team: team, compute: .fp32, prefixes: cache)
            #expect(throws: Stopped.self) {
                try other.withLogits(ofPrompt: prompt, check: patience(3)) { _ in }
            }
            let cold = DecoderSession(base, capacity: 400, team: team, compute: .fp32)
            let row = Array(prompt[7...])
            #expect(other.logits(after: row) == cold.logits(after: row))
        }
    }

    @Test("a step that is ended while it restores leaves the rest to the next one")
    func step() throws {
        try open { cache, prompt, logits, base, team in
            let plan = BatchPlan(model: base.weights.configuration, sequences: 1, context: 400)
            let batch = BatchDecoder(weights: base.weights, plan: plan, team: team, prefixes: cache)
            let id = try #require(batch.join(prompt, 10, base))
            for calls in 0..<5 {
                #expect(throws: Stopped.self) {
                    try batch.step(check: patience(calls)) { _ in }
                }
                #expect(batch.tokensComputed == 0 && batch.cachedTokens(of: id) == 0)
                #expect(batch.unreadPromptTokens(of: id) == 350)
            }
            #expect(batch.drain()[id] == logits)
            #expect(batch.tokensComputed == 30 && batch.cachedTokens(of: id) == 320)
            batch.leave(id)
            let gone = try #require(batch.join(prompt, 10, base))
            #expect(throws: Stopped.self) { try batch.step(check: patience(2)) { _ in } }
            batch.leave(gone)
            #expect(batch.isIdle && batch.cacheBytesInUse == 0)
        }
    }
}
