import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct CheckpointTests {
    private let layout = ParameterLayout([
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", [2, 3]),
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", [4, 2]),
    ])

    private func checkpoint(_ step: Int, loss: Double? = 1.5) -> Checkpoint {
        func values(_ salt: Float) -> [Float] {
            (0..<14).map { Float($0) * 0.1 + salt + Float(step) }
        }
        return Checkpoint(
            state: TrainingState(
                step: step, epoch: 2, bestValidationLoss: loss, bestStep: 40,
                validationsSinceBest: 1, configurationDigest: "d"),
            adapter: AdapterConfiguration(
                rank: 2, alpha: 4, dropout: 0.05, targetModules: ["q_proj"],
                layersToTransform: nil, baseModelName: "m", usesRankStabilizedScale: false),
            parameters: values(0), averages: values(100), squareAverages: values(200))
    }

    private func files(_ directory: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try DiskStore().names(in: directory) {
            files[name] = try MappedFile(path: directory + "/" + name).withBytes { Array($0) }
        }
        return files
    }

    @Test("a checkpoint reads back, and equal states give equal bytes")
    func roundTrip() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory + "/a/checkpoints")
            let other = CheckpointStore(directory: directory + "/b")
            for loss in [1.5, nil, 0.1 + 0.2] {
                let original = checkpoint(50, loss: loss)
                let path = try store.save(original, layout: layout)
                #expect(path.hasSuffix("/step-000050"))
                #expect(try Checkpoint(directory: path, layout: layout) == original)
                let copy = try other.save(original, layout: layout)
                #expect(try files(path) == files(copy))
                let names = Checkpoint.files + ["manifest.json"]
                #expect(try DiskStore().names(in: path) == names.sorted())
            }
        }
    }

    @Test("any changed, cut or missing file is found, and the checkpoint before it is loaded")
    func damaged() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory)
            try store.save(checkpoint(50), layout: layout)
            let path = try store.save(checkpoint(100), layout: layout)
            for name in Checkpoint.files + ["manifest.json"] {
                let file = path + "/" + name
                let bytes = try MappedFile(path: file).withBytes { Array($0) }
                var flipped = bytes
                flipped[bytes.count / 2] ^= 1
                for damage in [flipped, Array(bytes.dropLast()), [], nil] {
                    try FileManager.default.removeItem(atPath: file)
                    if let damage { try AtomicFile.write(damage, to: file) }
                    // A manifest that lacks only its last newline is still good.
                    if name == "manifest.json", damage?.count == bytes.count - 1 { continue }
                    let found = try store.newest(layout: layout, configurationDigest: "d")
                    #expect(found.checkpoint == checkpoint(50), "\(name)")
                    #expect(found.rejected.count == 1, "\(name)")
                    try AtomicFile.write(bytes, to: file)
                }
            }
            let found = try store.newest(layout: layout, configurationDigest: "d")
            #expect(found.checkpoint == checkpoint(100))
            #expect(found.rejected == [])
        }
    }

    @Test("a checkpoint's file that cannot be read is passed over, with the system's reason")
    func unreadable() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory)
            try store.save(checkpoint(50), layout: layout)
            let path = try store.save(checkpoint(100), layout: layout)
            let file = path + "/optimizer.safetensors"
            // A named pipe in place of a bad sector, whose error `MappedFileTests` checks.
            try FileManager.default.removeItem(atPath: file)
            #expect(mkfifo(file, 0o600) == 0)
            let found = try store.newest(layout: layout, configurationDigest: "d")
            #expect(found.checkpoint == checkpoint(50))
            guard
                case .damagedCheckpoint(path, .unfit("optimizer.safetensors", let detail)) =
                    found.rejected.first
            else {
                Issue.record("\(found.rejected)")
                return
            }
            #expect(detail.contains("a named pipe"))
        }
    }

    @Test("a file that is cut while it is read does not end the process")
    func cutMeanwhile() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = try CheckpointStore(directory: directory)
                .save(checkpoint(50), layout: layout)
            let files = try AdapterFiles.read(path) { try layout.check($0.shapes) }
            let optimizer = try SafetensorsFile(copying: path + "/optimizer.safetensors") { _ in }
            for name in Checkpoint.files { #expect(truncate(path + "/" + name, 0) == 0) }
            // With a mapping, reading either would be SIGBUS.
            #expect(try layout.flatten(files.tensors) == checkpoint(50).parameters)
            #expect(
                try layout.flatten(optimizer.tensors, suffix: Checkpoint.averageSuffix)
                    == checkpoint(50).averages)
        }
    }

    @Test("a file that grew is refused by its size, and an extra tensor before memory is allocated")
    func tooLarge() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory)
            let path = try store.save(checkpoint(1), layout: layout)
            func problem() -> CheckpointProblem? {
                let error = #expect(throws: TrainingError.self) {
                    try Checkpoint(directory: path, layout: layout)
                }
                guard case .damagedCheckpoint(path, let problem) = error else { return nil }
                return problem
            }
            // Hashing it first would read a terabyte.
            let file = path + "/optimizer.safetensors"
            let size = try MappedFile(path: file).count
            #expect(truncate(file, 1 << 40) == 0)
            #expect(
                problem()
                    == .wrongSize(
                        file: "optimizer.safetensors", expected: size, found: 1 << 40))
            // A manifest that matches a file does not make its tensors those of the run.
            let more = SafetensorsWriter.Tensor(name: "more", shape: [1], floats: [0])
            let original = checkpoint(1)
            try SafetensorsWriter.write(
                layout.tensors(original.averages, suffix: Checkpoint.averageSuffix)
                    + layout.tensors(
                        original.squareAverages, suffix: Checkpoint.squareAverageSuffix) + [more],
                metadata: [:], to: file)
            let manifest = try Manifest(directory: path, files: Checkpoint.files)
            try AtomicFile.write(manifest.text, to: path + "/manifest.json")
            #expect(
                problem()
                    == .unfit(
                        file: "optimizer.safetensors", detail: "the tensor more is unexpected"))
        }
    }

    @Test("each damage is named")
    func problems() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory)
            let path = try store.save(checkpoint(1), layout: layout)
            func problem(_ layout: ParameterLayout) -> TrainingError? {
                #expect(throws: TrainingError.self) {
                    try Checkpoint(directory: path, layout: layout)
                }
            }
            let other = ParameterLayout([("x", [1])])
            let wide = ParameterLayout([(layout.entries[0].name, [3, 2])])
            #expect(
                problem(other)
                    == .damagedCheckpoint(
                        path: path,
                        problem: .unfit(
                            file: "adapter_model.safetensors",
                            detail: "the tensor x is missing")))
            #expect(
                problem(wide)
                    == .damagedCheckpoint(
                        path: path,
                        problem: .unfit(
                            file: "adapter_model.safetensors",
                            detail: "the tensor \(layout.entries[0].name) has the shape [2, 3], "
                                + "not [3, 2]")))
            let size = try MappedFile(path: path + "/state.json").count
            try AtomicFile.write("{}", to: path + "/state.json")
            #expect(
                problem(layout)
                    == .damagedCheckpoint(
                        path: path,
                        problem: .wrongSize(file: "state.json", expected: size, found: 2)))
            try FileManager.default.removeItem(atPath: path + "/state.json")
            #expect(
                problem(layout)
                    == .damagedCheckpoint(
                        path: path,
                        problem: .wrongSize(file: "state.json", expected: size, found: nil)))
            try AtomicFile.write("{\"files\":{}}", to: path + "/manifest.json")
            #expect(
                problem(layout)
                    == .damagedCheckpoint(
                        path: path,
                        problem: .noManifest(detail: "it does not name adapter_config.json")))
            try AtomicFile.write(
                "{\"files\":{\"../x\":{\"bytes\":1,\"sha256\":\"\"}}}",
                to: path + "/manifest.json")
            #expect(
                problem(layout)
                    == .damagedCheckpoint(
                        path: path,
                        problem: .noManifest(detail: "it names files that no checkpoint has")))
        }
    }

    @Test("a checkpoint of another configuration is passed over")
    func foreign() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory)
            try store.save(checkpoint(50), layout: layout)
            let found = try store.newest(layout: layout, configurationDigest: "e")
            #expect(found.checkpoint == nil)
            #expect(found.rejected.count == 1)
        }
    }

    @Test("what a kill at any moment of writing leaves is not taken for a checkpoint")
    func killed() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory)
            #expect(try store.steps() == [])
            try store.save(checkpoint(50), layout: layout)
            let whole = try files(store.path(ofStep: 50))
            // The files at each moment, the last one cut in half.
            let order = Checkpoint.files + ["manifest.json"]
            for count in 0...order.count {
                let leftover = directory + "/.writing-step-000100"
                try AtomicFile.makeDirectory(leftover)
                for (index, name) in order.prefix(count).enumerated() {
                    let bytes = whole[name] ?? []
                    try AtomicFile.write(
                        index == count - 1 ? Array(bytes.prefix(bytes.count / 2)) : bytes,
                        to: leftover + "/" + name)
                }
                let found = try store.newest(layout: layout, configurationDigest: "d")
                #expect(found.checkpoint == checkpoint(50))
                #expect(found.rejected == [])
                try store.removeLeftovers()
                #expect(try DiskStore().names(in: directory) == ["step-000050"])
            }
            // Between the two renames of a replacement.
            try DiskStore().rename(
                store.path(ofStep: 50), to: directory + "/.replaced-step-000050")
            #expect(
                try store.newest(layout: layout, configurationDigest: "d").checkpoint == nil)
            try store.removeLeftovers()
            #expect(try DiskStore().names(in: directory) == [])
        }
    }

    @Test("the newest are kept; other names are left alone")
    func keeping() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let store = CheckpointStore(directory: directory)
            for step in [5, 50, 100, 999_999, 1_000_000] {
                try store.save(checkpoint(step), layout: layout)
            }
            try AtomicFile.makeDirectory(directory + "/step-7")
            #expect(try store.steps() == [5, 50, 100, 999_999, 1_000_000])
            // One that the run did not resume from is neither counted nor removed.
            try store.keepNewest(1, besides: 5, through: 999_999)
            #expect(try store.steps() == [5, 999_999, 1_000_000])
            try store.keepNewest(2, besides: 1_000_000)
            #expect(try store.steps() == [999_999, 1_000_000])
            try store.keepNewest(0, besides: nil)
            #expect(try store.steps() == [1_000_000])
            #expect(try DiskStore().names(in: directory) == ["step-1000000", "step-7"])
        }
    }

    @Test("a directory that cannot be written is an error of the file system")
    func unwritable() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write("", to: directory + "/file")
            let store = CheckpointStore(directory: directory + "/file/checkpoints")
            #expect(throws: FileError.self) { try store.save(checkpoint(1), layout: layout) }
        }
    }
}
