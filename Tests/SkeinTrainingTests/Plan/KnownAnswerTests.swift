import Foundation
import SkeinBasics
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// What a machine makes of a fixed piece of work.
@Suite struct KnownAnswerTests {
    private func answer(
        _ tiny: TinyModel = TinyModel(), _ change: (inout TrainingConfiguration) -> Void = { _ in }
    ) throws -> String {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try tiny.writeGGUF(to: path)
            var configuration = TrainingConfiguration.fixed
            configuration.targetModules = TargetModule.allCases
            change(&configuration)
            return try KnownAnswer.digest(configuration, ModelDirectory.open(path)).description
        }
    }

    @Test("it is the same each time, and whatever the run's rows, length and threads are")
    func same() throws {
        let first = try answer()
        #expect(try answer() == first)
        #expect(
            try answer {
                ($0.threads, $0.maxLength, $0.batchSize, $0.epochs) = (3, 77, 9, 2)
                $0.gradientCheckpointing = true
            } == first)
    }

    @Test("what changes a run's arithmetic changes it, and so do the weights' types and numbers")
    func different() throws {
        var quantized = TinyModel()
        quantized.weightType = .q4x0
        var other = TinyModel()
        other.seed = 2
        let answers = [
            try answer(), try answer(quantized), try answer(other),
            try answer { $0.compute = .bf16 }, try answer { $0.gradientCodec = .int8 },
            try answer { $0.dropout = 0.1 }, try answer { $0.rank = 3 },
            try answer { $0.targetModules = [.query] }, try answer { $0.dora = true },
            try answer { $0.loss = .dpo }, try answer { $0.loss = .simpo },
            try answer { $0.neftuneAlpha = 5 }, try answer { $0.labelSmoothing = 0.1 },
            try answer { $0.weightDecay = 0.5 },
            try answer { $0.targetModules = [.query, .embedding, .head] },
        ]
        #expect(Set(answers).count == answers.count)
    }

    @Test("answers to another question are not compared")
    func questions() throws {
        let digest = SHA256.digest(of: "answer")
        #expect(KnownAnswer.digest(of: KnownAnswer.text(digest)) == digest)
        #expect(KnownAnswer.digest(of: "0:" + digest.description) == nil)
        #expect(KnownAnswer.digest(of: digest.description) == nil)
    }
}
