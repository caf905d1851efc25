import SkeinBasics
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// Rows that are turned otherwise once they are long (longrope), and the prefix cache.
@Suite("Blocks of rows that are turned otherwise")
struct PrefixTurnTests {
    private struct Stopped: Error {}

    @Test("a session that begins anew offers no block under the name of a shorter row")
    func foreignTurns() throws {
        try GenerationCase.tiny(.f32, isWindowed: false).open { tiny, _ in
            var model = tiny
            for index in model.configuration.design.rotaryTables.indices {
                let half = model.configuration.design.rotaryTables[index].dimension / 2
                model.configuration.design.rotaryTables[index].longDivisors =
                    [Float](repeating: 3, count: half)
                model.configuration.design.rotaryTables[index].longFrom = 150
            }
            let team = ComputeTeam(threadCount: 2)
            let projections = GenerationProjections(
                try GenerationWeights(model: model, team: team), adapter: nil)
            let row = GenerationCase.tokens(200, of: model.configuration)
            let short = Array(row[..<100])
            func session(_ prefixes: PrefixCache?) -> DecoderSession {
                DecoderSession(
                    projections, capacity: 300, team: team, compute: .fp32, prefixes: prefixes)
            }
            func logits(_ prefixes: PrefixCache?) -> [Float] {
                session(prefixes).withLogits(
                    ofPrompt: short, check: DecoderSession.uninterrupted
                ) { Array($0) }
            }
            let cold = logits(nil)
            for isInterrupted in [false, true] {
                let cache = PrefixCache(model: SHA256.digest(of: [1]), byteLimit: 1 << 24)
                let first = session(cache)
                try? first.withLogits(
                    ofPrompt: Array(row[..<10]),
                    check: { if isInterrupted { throw Stopped() } }
                ) { _ in }
                if !isInterrupted { first.truncate(to: 0) }
                _ = first.logits(after: row)
                #expect(logits(cache) == cold)
                // The row that is read from its beginning finds its blocks.
                _ = session(cache).withLogits(
                    ofPrompt: row, check: DecoderSession.uninterrupted
                ) { $0.count }
                let again = session(cache)
                _ = again.withLogits(ofPrompt: row, check: DecoderSession.uninterrupted) {
                    $0.count
                }
                #expect(cache.usage.hits > 0)
            }
        }
    }
}
