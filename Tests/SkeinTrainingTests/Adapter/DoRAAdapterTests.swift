import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinTraining

/// Adapters with magnitudes in files: PEFT's own (Tests/Fixtures/adapters/make.py), and ours.
@Suite struct DoRAAdapterTests {
    static let folder = LoadedAdapterTests.folder + "/peft-dora"
    private static let q = "base_model.model.model.layers.0.self_attn.q_proj"

    @Test("PEFT's adapter is read, and comes back from PEFT's and MLX's files as it was")
    func formats() throws {
        try LoadedAdapterTests.withModel { model in
            let loaded = try LoadedAdapter.read(
                Self.folder, for: model, matching: ModulePatterns.matching)
            let shape = loaded.parameters.shape
            #expect(shape.configuration.usesMagnitudes && loaded.configuration.usesMagnitudes)
            #expect(
                shape.layout.entries.prefix(3).map(\.name) == [
                    Self.q + ".lora_A.weight", Self.q + ".lora_B.weight",
                    Self.q + ".lora_magnitude_vector",
                ])
            let export = try AdapterExport(
                loaded.parameters, source: loaded.configuration, model: model)
            try TestPaths.withTemporaryDirectory { directory in
                for format in [PEFTAdapter(), MLXAdapter()] as [any AdapterFormat] {
                    let path = directory + "/" + format.id
                    try export.write(format, to: path)
                    let back = try LoadedAdapter.read(
                        path, for: model, matching: ModulePatterns.matching)
                    #expect(back.parameters.shape == shape)
                    #expect(back.parameters.values == loaded.parameters.values)
                }
                let mlx = try SafetensorsFile(path: directory + "/mlx/adapters.safetensors")
                #expect(mlx.tensors["model.layers.0.self_attn.q_proj.m"]?.shape == [64])
                let text = try String(
                    contentsOfFile: directory + "/mlx/adapter_config.json", encoding: .utf8)
                #expect(text.contains("\"fine_tune_type\": \"dora\""))
                #expect(throws: AdapterError.noMagnitudes(format: "GGUF")) {
                    try export.write(GGUFAdapter(), to: directory + "/a.gguf")
                }
                let summary = try AdapterSummary(path: directory + "/peft")
                #expect(summary.parameterCount == shape.layout.count)
            }
        }
    }

    @Test("magnitudes that are missing, misshapen or not announced are refused")
    func damaged() throws {
        try LoadedAdapterTests.withModel { model in
            let own = try AdapterFiles.read(Self.folder) { _ in }
            func read(
                usesMagnitudes: Bool = true, changing change: (inout [String: [Int]]) -> Void
            ) throws {
                var shapes = own.tensors.mapValues(\.shape)
                change(&shapes)
                try TestPaths.withTemporaryDirectory { directory in
                    let tensors = shapes.map { name, shape in
                        SafetensorsWriter.Tensor(
                            name: name, shape: shape,
                            floats: [Float](repeating: 0.5, count: shape.reduce(1, *)))
                    }
                    try SafetensorsWriter.write(
                        tensors, metadata: [:], to: directory + "/adapter_model.safetensors")
                    let text = try String(
                        contentsOfFile: Self.folder + "/adapter_config.json", encoding: .utf8
                    ).replacing("\"use_dora\": true", with: "\"use_dora\": \(usesMagnitudes)")
                    try AtomicFile.write(text, to: directory + "/adapter_config.json")
                    _ = try LoadedAdapter.read(
                        directory, for: model, matching: ModulePatterns.matching)
                }
            }
            let name = Self.q + ".lora_magnitude_vector"
            try read { _ in }
            #expect(throws: FormatError.self) { try read { $0[name] = nil } }
            #expect(throws: FormatError.self) { try read { $0[name] = [63] } }
            #expect(throws: FormatError.self) { try read { $0[name] = [8, 8] } }
            #expect(throws: FormatError.self) { try read { $0[name] = [0] } }
            #expect(throws: FormatError.self) { try read(usesMagnitudes: false) { _ in } }
            #expect(throws: FormatError.self) {
                try read { shapes in
                    for matrix in ["lora_A", "lora_B"] {
                        shapes["\(Self.q).\(matrix).weight"] = nil
                    }
                }
            }
        }
    }

    @Test("a run goes on only from an adapter that has magnitudes if it trains them")
    func start() throws {
        try LoadedAdapterTests.withModel { model in
            let plain = try LoadedAdapter.read(
                LoadedAdapterTests.folder + "/peft", for: model, matching: ModulePatterns.matching)
            let dora = try LoadedAdapter.read(
                Self.folder, for: model, matching: ModulePatterns.matching)
            #expect(throws: AdapterError.magnitudes(run: true)) {
                try plain.parameters.fitted(to: dora.parameters.shape, nil)
            }
            #expect(throws: AdapterError.magnitudes(run: false)) {
                try dora.parameters.fitted(to: plain.parameters.shape, nil)
            }
            var configuration = TrainingConfiguration.fixed
            configuration.initAdapter = Self.folder
            try configuration.take(Set(TrainingConfiguration.AdapterOption.allCases)) { model }
            #expect(configuration.dora == true && configuration.rank == 2)
            let lora = try configuration.lora(for: model.configuration)
            let shape = AdapterShape(lora, model: model.configuration)
            #expect(try dora.parameters.fitted(to: shape, nil).values == dora.parameters.values)
        }
    }

    @Test("a rank-stabilized run takes alpha so that the adapter's scale stays")
    func rankStabilized() throws {
        try LoadedAdapterTests.withModel { model in
            for (name, stabilizes, alpha) in [
                ("peft", false, 6.0), ("peft", true, 3 * 2.0.squareRoot()),
                ("peft-rslora", true, 6),
                ("peft-rslora", false, Double(Float(6 / 2.0.squareRoot())) * 2),
            ] {
                var configuration = TrainingConfiguration.fixed
                configuration.initAdapter = LoadedAdapterTests.folder + "/" + name
                if stabilizes { configuration.rslora = true }
                try configuration.take(Set(TrainingConfiguration.AdapterOption.allCases)) { model }
                #expect(abs(configuration.alpha - alpha) < 1e-12)
                let lora = try configuration.lora(for: model.configuration)
                let own = try LoadedAdapter.read(
                    LoadedAdapterTests.folder + "/" + name, for: model,
                    matching: ModulePatterns.matching)
                #expect(lora.scale == own.parameters.shape.configuration.scale)
            }
        }
    }
}
