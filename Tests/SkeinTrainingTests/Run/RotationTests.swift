import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// A model whose positions older versions of skein rotated by another factor.
@Suite struct RotationTests {
    /// The job of a tiny model with additional `metadata`.
    private func job(_ metadata: [(key: String, value: GGUFImage.Value)]) throws -> TrainingJob {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            image.metadata += metadata
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            try AtomicFile.write(
                "{\"prompt\": \"a?\", \"completion\": \"the answer\"}\n",
                to: directory + "/rows.jsonl")
            var configuration = TrainingConfiguration.fixed
            configuration.validationSplit = 0
            return try TrainingJob(
                configuration: configuration, modelPath: directory + "/tiny.gguf",
                dataPath: directory + "/rows.jsonl", version: "test")
        }
    }

    @Test("a run that began with another factor is refused, and no other run is")
    func resume() throws {
        let key = "llama.rope.scaling.factor"
        let plain = Engine.fingerprint(.fp32)
        for metadata: [(key: String, value: GGUFImage.Value)] in [
            [], [(key, .float32(4)), ("llama.rope.scaling.type", .string("linear"))],
            [("llama.rope.scale_linear", .float32(4))],
        ] {
            #expect(try job(metadata).runFile.fingerprint == plain)
        }
        let run = try job([(key, .float32(4))]).runFile
        #expect(run.fingerprint == plain + ", linear 4.0")
        var older = run
        older.fingerprint = plain
        let error = try #require(throws: TrainingError.self) {
            try run.checkResume(of: older, path: "run.json")
        }
        guard case .resumeDiffers(_, let differences) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(differences.map(\.field) == ["fingerprint"])
        #expect(error.explanation.remedy.contains("this model's positions by a different one"))
    }
}
