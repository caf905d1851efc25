import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct CheckpointWriterTests {
    private let layout = ParameterLayout([
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", [2, 3]),
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", [4, 2]),
    ])

    private func checkpoint(_ step: Int, best: Int? = nil) -> Checkpoint {
        let values = (0..<14).map { Float($0 + step) }
        return Checkpoint(
            state: TrainingState(
                step: step, epoch: 1, bestValidationLoss: best.map { _ in 1 }, bestStep: best ?? 0,
                validationsSinceBest: 0, configurationDigest: "d"),
            adapter: AdapterConfiguration(
                rank: 2, alpha: 4, dropout: 0, targetModules: ["q_proj"], layersToTransform: nil,
                baseModelName: "m", usesRankStabilizedScale: false),
            parameters: values, averages: values, squareAverages: values)
    }

    @Test("checkpoints become durable in order, are reported once, and old ones are removed")
    func order() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory + "/checkpoints")
            let writer = CheckpointWriter(store: store, layout: layout, keeping: 2)
            #expect(try writer.poll().isEmpty && writer.finish().isEmpty)
            var told: [CheckpointWriter.Saved] = []
            for step in 1...20 {
                told += try writer.save(checkpoint(step))
                // The one before it is whole by now, this one perhaps.
                let steps = try store.steps()
                #expect(step == 1 || steps.contains(step - 1), "\(steps) at \(step)")
                if step % 3 == 0 { told += try writer.poll() }
                #expect(told.count >= step - 1)
            }
            told += try writer.finish()
            #expect(told.map(\.step) == Array(1...20))
            #expect(told.allSatisfy { $0.path == store.path(ofStep: $0.step) })
            #expect(try store.steps() == [19, 20])
            #expect(try writer.finish().isEmpty && writer.poll().isEmpty)
            let found = try store.newest(layout: layout, configurationDigest: "d")
            #expect(found.checkpoint == checkpoint(20))
        }
    }

    @Test("the checkpoint of the best step stays until a better one is durable")
    func best() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory)
            let writer = CheckpointWriter(store: store, layout: layout, keeping: 2)
            // Each step, the best step that its checkpoint names, and what is kept afterwards.
            let table: [(step: Int, best: Int?, kept: [Int])] = [
                (1, nil, [1]), (2, nil, [1, 2]), (3, 3, [2, 3]), (4, 3, [3, 4]), (5, 3, [3, 4, 5]),
                (6, 3, [3, 5, 6]), (7, 7, [6, 7]), (8, 7, [7, 8]), (9, 7, [7, 8, 9]),
            ]
            for row in table {
                _ = try writer.save(checkpoint(row.step, best: row.best))
                _ = try writer.finish()
                #expect(try store.steps() == row.kept)
            }
        }
    }

    @Test("what was passed is saved, even if the caller changes its arrays")
    func copies() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory)
            let writer = CheckpointWriter(store: store, layout: layout, keeping: 1)
            var original = checkpoint(7)
            _ = try writer.save(original)
            for i in original.parameters.indices { original.parameters[i] = .nan }
            _ = try writer.finish()
            #expect(
                try Checkpoint(directory: store.path(ofStep: 7), layout: layout) == checkpoint(7))
        }
    }

    @Test("an error is thrown by every later call, and nothing is saved after it")
    func errors() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory + "/checkpoints")
            let writer = CheckpointWriter(store: store, layout: layout, keeping: 3)
            _ = try writer.save(checkpoint(1))
            #expect(try writer.finish().map(\.step) == [1])
            // A file where the next checkpoint's directory should be.
            let obstacle = store.directory + "/.writing-step-000002"
            let aside = directory + "/aside"
            try FileManager.default.moveItem(atPath: store.directory, toPath: aside)
            try AtomicFile.write("", to: store.directory)
            #expect(try writer.save(checkpoint(2)).isEmpty)
            for _ in 0..<2 {
                #expect(throws: FileError.self) { try writer.finish() }
                #expect(throws: FileError.self) { try writer.poll() }
            }
            try FileManager.default.removeItem(atPath: store.directory)
            try FileManager.default.moveItem(atPath: aside, toPath: store.directory)
            #expect(throws: FileError.self) { try writer.save(checkpoint(3)) }
            #expect(try store.steps() == [1])
            #expect(!FileManager.default.fileExists(atPath: obstacle))
        }
    }
}
