import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import Skein

@Suite struct ReuseTests {
    @Test("a second session that reuses features tokenizes no row, and its adapter is its own")
    func reuses() async throws {
        try await SessionBench.with { bench in
            let first = try bench.session("a")
            _ = try await AdapterTrainer.resume(first).result
            let second = try bench.session("b", seed: 1)
            try second.reuseExtractedFeatures(from: first)
            let trained = try await AdapterTrainer.resume(second).result
            #expect(second.extractedFeatures == .init(rows: 20, tokenizedRows: 0))
            #expect(trained.adapter.sha256 == (try bench.reference(seed: 1)))
            // Without it, each session tokenizes by itself.
            let third = try bench.session("c", seed: 1)
            _ = try await AdapterTrainer.resume(third).result
            #expect(third.extractedFeatures == .init(rows: 20, tokenizedRows: 20))
            // Tokens outlive the session that made them.
            try FileManager.default.removeItem(atPath: bench.place("a"))
            let fourth = try bench.session("d", seed: 1)
            try fourth.reuseExtractedFeatures(from: second)
            let again = try await AdapterTrainer.resume(fourth).result
            #expect(fourth.extractedFeatures?.tokenizedRows == 0)
            #expect(again.adapter.sha256 == trained.adapter.sha256)
        }
    }

    @Test("features of a changed file are refused with both digests")
    func changed() async throws {
        try await SessionBench.with { bench in
            let first = try bench.session("a")
            _ = try await AdapterTrainer.resume(first).result
            let then = try RegularFile.digest(of: bench.rows).digest.description
            try TrainingPairs.write(Array(SessionBench.pairs.dropLast()), to: bench.rows)
            let now = try RegularFile.digest(of: bench.rows).digest.description
            let second = try bench.session("b")
            let error = #expect(throws: SkeinError.self) {
                try second.reuseExtractedFeatures(from: first)
            }
            #expect(error?.code == .badData && error?.place == bench.rows)
            #expect(error?.what.contains(then) == true && error?.what.contains(now) == true)
            #expect(!FileManager.default.fileExists(atPath: bench.place("b/session/tokens")))
            var validated = second.dataset
            validated.validation = bench.rows
            try TrainingPairs.write(SessionBench.pairs, to: bench.rows)
            let third = try AdapterTrainer.makeTrainingSession(
                pairs: .dataset(validated), parameters: bench.parameters(),
                sessionParameters: bench.settings("c"))
            let validation = #expect(throws: SkeinError.self) {
                try third.reuseExtractedFeatures(from: first)
            }
            #expect(validation?.what.contains("none (no file)") == true)
        }
    }

    @Test("features are refused to a session with a checkpoint, other settings or another model")
    func refused() async throws {
        try await SessionBench.with { bench in
            let first = try bench.session("a")
            let early = #expect(throws: SkeinError.self) {
                try bench.session("b").reuseExtractedFeatures(from: first)
            }
            #expect(early?.what.contains("no extracted features yet") == true)
            _ = try await AdapterTrainer.resume(first).result
            let begun = try bench.session("c")
            try await bench.stop(begun, after: 2)
            let late = #expect(throws: SkeinError.self) {
                try begun.reuseExtractedFeatures(from: first)
            }
            #expect(late?.what.contains("has a checkpoint") == true)

            func session(
                _ name: String, change: (inout AdapterTrainer.Parameters) -> Void
            ) throws -> TrainingSession {
                var parameters = bench.parameters()
                change(&parameters)
                return try AdapterTrainer.makeTrainingSession(
                    pairs: .file(bench.rows), parameters: parameters,
                    sessionParameters: bench.settings(name))
            }
            let shorter = try session("d") { $0.recipe.maxLength = 16 }
            let settings = #expect(throws: SkeinError.self) {
                try shorter.reuseExtractedFeatures(from: first)
            }
            #expect(settings?.what.contains("`maxLength` 512, not 16") == true)
            let forgetful = try session("e") { $0.machine.keepsTokens = false }
            let keeps = #expect(throws: SkeinError.self) {
                try forgetful.reuseExtractedFeatures(from: first)
            }
            #expect(keeps?.what.contains("keeps no tokens") == true)
            // A model with another chat template.
            var bytes = try bench.bytes("tiny.gguf")
            let role = try #require(bytes.range(of: Data("<|im_start|>assistant".utf8)))
            bytes.replaceSubrange(role, with: Data("<|im_start|>Assistant".utf8))
            try AtomicFile.write(Array(bytes), to: bench.place("other.gguf"))
            let model = try Model(at: bench.place("other.gguf"))
            let other = try session("f") { $0.model = model }
            try other.reuseExtractedFeatures(from: first)
            let error = await #expect(throws: SkeinError.self) {
                try await AdapterTrainer.resume(other).result
            }
            #expect(error?.what.contains("20 of 20 rows had to be tokenized") == true)
            // Who resumes it nevertheless has been told.
            let reused = other.state.withLock { $0.reusedDirectory }
            #expect(reused == nil)
            #expect(try await AdapterTrainer.resume(other).result.outcome.isComplete)
        }
    }
}
