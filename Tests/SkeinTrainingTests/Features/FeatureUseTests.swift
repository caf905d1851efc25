import SkeinModels
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinTraining

/// An engine with a store computes what it lacks, and begins with what is there.
@Suite struct FeatureUseTests {
    private let rows = (0..<3).map { number in
        TokenizedRow(
            number: number, ids: (0..<(6 + number)).map { Int32($0 * 7 + number) },
            targets: [3..<(6 + number)])
    }

    private func engine(_ directory: String) throws -> MicroBatchEngine {
        let path = directory + "/tiny.gguf"
        try TinyModel().writeGGUF(to: path)
        let model = try ModelDirectory.open(path)
        var configuration = TrainingConfiguration.fixed
        try configuration.set("layers", to: "1")
        let shape = AdapterShape(
            try configuration.lora(for: model.configuration), model: model.configuration)
        return try MicroBatchEngine(
            model: model, adapter: shape, configuration: configuration, residence: .resident,
            positions: 64, threads: 1)
    }

    private func store(_ engine: MicroBatchEngine, _ directory: String) throws -> FeatureStore {
        try FeatureStore(
            FeatureKey(modelDigest: "m", fingerprint: "e", decoder: engine.decoder),
            settings: FeatureSettings(directory: directory))
    }

    private func loss(_ engine: MicroBatchEngine, _ progress: PassProgress? = nil) -> BatchLoss? {
        engine.loss(
            of: rows, parameters: nil, workspace: DecoderWorkspace(), progress: progress)
    }

    @Test("rows are computed once: what is kept is used, be it right or not")
    func used() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var engine = try engine(directory)
            let plain = loss(engine)
            #expect(plain?.lossTokens == 12)
            let store = try store(engine, directory + "/a")
            engine.features = store
            let progress = PassProgress()
            #expect(loss(engine, progress) == plain)
            #expect(progress.layersDone == 2)
            #expect(store.rowCount == 3)
            let again = PassProgress()
            #expect(loss(engine, again) == plain)
            // One of two blocks.
            #expect(again.layersDone == 1 && again.layerCount == 1)
            // Numbers that are not the row's show in the loss.
            let other = try self.store(engine, directory + "/b")
            for row in rows {
                let inputs = row.ids.dropLast()
                other.keep(
                    FeatureName(inputs), tokens: inputs.count,
                    [Float](repeating: 0.5, count: inputs.count * engine.decoder.width))
            }
            engine.features = other
            #expect(loss(engine) != plain)
        }
    }

    @Test("a batch of which some rows are there computes the others alone")
    func some() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var engine = try engine(directory)
            let plain = loss(engine)
            let store = try store(engine, directory + "/a")
            engine.features = store
            _ = engine.loss(of: [rows[1]], parameters: nil, workspace: DecoderWorkspace())
            #expect(store.rowCount == 1)
            #expect(loss(engine) == plain)
            #expect(store.rowCount == 3)
            let abandoned = PassProgress()
            abandoned.abandon()
            #expect(loss(engine, abandoned) == nil)
        }
    }
}
