import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// What a session is after a check that threw, with too many rows, and with numbers that are none.
@Suite struct SessionStateTests {
    private struct Stopped: Error {}

    /// Calls again until nothing throws; the n-th check throws, n counted anew in each call.
    private func stubborn<Result>(
        throwingAt first: Int, _ body: (() throws -> Void) throws -> Result
    ) throws -> Result {
        for limit in first... {
            var left = limit
            do {
                return try body {
                    left -= 1
                    if left < 0 { throw Stopped() }
                }
            } catch is Stopped {}
        }
        throw Stopped()
    }

    @Test("a check that throws while a row is read again loses nothing", arguments: 0..<5)
    func thrownAtTheTurn(first: Int) throws {
        try GenerationCase.tiny(.f32, isWindowed: false).openWeights(longFrom: 300) {
            weights, team in
            let model = weights.configuration
            let base = GenerationProjections(weights, adapter: nil)
            // Two blocks are read again.
            let row = GenerationCase.tokens(310, of: model)
            func session() -> DecoderSession {
                let session = DecoderSession(base, capacity: 400, team: team, compute: .fp32)
                _ = session.logits(after: Array(row[..<290]))
                _ = session.logits(after: Array(row[290..<300]), as: .answer)
                return session
            }
            for reading in [DecoderSession.Reading.answer, .prompt] {
                let straight = session()
                let expected = straight.logits(after: [row[300]], as: reading)
                let interrupted = session()
                let found = try stubborn(throwingAt: first) { check in
                    #expect(interrupted.count == 300 && interrupted.room == 100)
                    return try interrupted.withLogits(
                        after: [row[300]], as: reading, check: check
                    ) { Array($0) }
                }
                #expect(found == expected)
                let next = straight.logits(after: [row[301], row[302]], as: .answer)
                #expect(interrupted.logits(after: [row[301], row[302]], as: .answer) == next)
                #expect(interrupted.sequence.tokens == straight.sequence.tokens)
            }
            // It may be cut where it is, too, and another prompt may follow.
            let cut = session()
            try? cut.withLogits(after: [row[300]], as: .answer, check: { throw Stopped() }) { _ in }
            #expect(cut.canTruncate(to: 250) && !cut.canTruncate(to: 301) && cut.guessRoom == 0)
            cut.truncate(to: 250)
            #expect(cut.count == 250)
            let short = DecoderSession(base, capacity: 400, team: team, compute: .fp32)
            #expect(
                cut.logits(after: Array(row[250..<260]))
                    == short.logits(after: Array(row[..<260])))
            let other = session()
            try? other.withLogits(after: [row[300]], as: .answer, check: { throw Stopped() }) { _ in
            }
            let found = try stubborn(throwingAt: first) { check in
                try other.withLogits(ofPrompt: Array(row[..<305]), check: check) { Array($0) }
            }
            let whole = DecoderSession(base, capacity: 400, team: team, compute: .fp32)
            #expect(found == whole.logits(after: Array(row[..<305])))
        }
    }

    @Test("an answer that begins a row is turned alike in one call and in many")
    func answerFromTheStart() throws {
        try GenerationCase.family("phi3").openWeights { weights, team in
            let row = GenerationCase.tokens(40, of: weights.configuration)
            let base = GenerationProjections(weights, adapter: nil)
            let found = [1, 16, 40].map { rows in
                let session = DecoderSession(
                    base, capacity: 60, team: team, compute: .fp32, answerRows: rows)
                return session.logits(after: row, as: .answer)
            }
            #expect(found[1] == found[0] && found[2] == found[0])
        }
    }

    @Test("rows that are read together are never more than a window's ring has room for")
    func manyRows() throws {
        try GenerationCase.tiny(.f32, isWindowed: true).openWeights { weights, team in
            let row = GenerationCase.tokens(700, of: weights.configuration)
            let base = GenerationProjections(weights, adapter: nil)
            func answers(_ rows: Int) -> [Float] {
                let session = DecoderSession(
                    base, capacity: 800, team: team, compute: .fp32, answerRows: rows)
                _ = session.logits(after: Array(row[..<100]))
                return session.logits(after: Array(row[100...]), as: .answer)
            }
            let expected = answers(1)
            for rows in [-3, 0, 16, 256, 300, 400, .max] { #expect(answers(rows) == expected) }
        }
    }

    @Test("a token whose numbers are not finite is in no block that others read")
    func notFinite() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            var tiny = TinyModel()
            tiny.weightType = .f32
            try tiny.writeGGUF(to: path)
            let clean = try ModelDirectory.open(path)
            let width = clean.configuration.width
            // Token 9 has an infinite number in its embedding, which is the head, too.
            var row = [Float](repeating: 0, count: width)
            try clean.tensor(clean.configuration.design.names.embedding)
                .dequantize(rows: 9..<10, into: &row)
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let pattern = row.withUnsafeBytes { Data($0) }
            let range = try #require(bytes.range(of: pattern))
            row[3] = .infinity
            bytes.replaceSubrange(range, with: row.withUnsafeBytes { Data($0) })
            try bytes.write(to: URL(fileURLWithPath: path))
            let team = ComputeTeam(threadCount: 2)
            let weights = try GenerationWeights(
                model: ModelDirectory.open(path), team: team)
            let base = GenerationProjections(weights, adapter: nil)
            let cache = PrefixCache(model: SHA256.digest(of: [1]), byteLimit: 1 << 24)
            func logits(_ prompt: [Int32], _ cache: PrefixCache?, first: Int? = nil) -> [UInt32] {
                let session = DecoderSession(
                    base, capacity: 200, team: team, compute: .fp32, prefixes: cache)
                // Reading begins anywhere, so that blocks of 32 reach over those of 64.
                session.expectedLength = prompt.count
                if let first {
                    _ = session.withLogits(
                        ofPrompt: Array(prompt[..<first]), check: DecoderSession.uninterrupted
                    ) { $0.count }
                    return session.logits(after: Array(prompt[first...])).map(\.bitPattern)
                }
                return session.withLogits(
                    ofPrompt: prompt, check: DecoderSession.uninterrupted
                ) { $0.map(\.bitPattern) }
            }
            let shared = GenerationCase.tokens(64, of: clean.configuration).map { $0 == 9 ? 8 : $0 }
            let expected = logits(shared + [1, 2], nil)
            // 50..<82 is a block, and the infinite token lies in it behind the shared ones.
            _ = logits(shared + [Int32](repeating: 4, count: 6) + [9] + shared, cache, first: 50)
            #expect(cache.usage.stored == 0)
            #expect(logits(shared + [1, 2], cache) == expected)
            _ = logits(shared + [1, 2], cache)
            #expect(cache.usage.hits == 1)
        }
    }
}
