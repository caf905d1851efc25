import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinModels
@testable import SkeinTraining

/// Adapters of the embedding and the head in files.
@Suite struct EdgeAdapterFileTests {
    static let prefix = "base_model.model."
    private static let embedding = prefix + "model.embed_tokens.lora_embedding_"
    private static let head = prefix + "lm_head."

    func withModel(
        isTied: Bool, _ body: (ModelDirectory, String) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var tiny = TinyModel()
            tiny.tiedEmbeddings = isTied
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            try body(ModelDirectory.open(directory + "/tiny.gguf"), directory)
        }
    }

    private func adapter(
        _ targets: [TargetModule], _ model: ModelDirectory, layers: Range<Int> = 0..<2,
        exceptions: [LoRAConfiguration.Place: LoRAConfiguration.Strength?] = [:]
    ) -> AdapterParameters {
        let shape = AdapterShape(
            LoRAConfiguration(
                rank: 2, scale: 3, dropout: 0, targets: targets, layers: layers,
                exceptions: exceptions), model: model.configuration)
        return AdapterParameters(
            shape: shape,
            values: CentralDifference.numbers(shape.layout.count, seed: 3, stream: 2))
    }

    private func export(_ adapter: AdapterParameters, _ model: ModelDirectory) throws
        -> AdapterExport
    {
        try AdapterExport(
            adapter,
            source: AdapterConfiguration(
                rank: 2, alpha: 6, dropout: 0, targetModules: Array(adapter.shape.modules),
                baseModelName: "tiny"), model: model)
    }

    @Test("every format gives back what was written, if the head is not the embedding")
    func formats() throws {
        try withModel(isTied: false) { model, directory in
            for (index, adapter) in [
                adapter([.query, .embedding, .head], model),
                adapter([.query, .embedding, .head], model, layers: 1..<2),
                adapter([.embedding], model), adapter([.head], model),
            ].enumerated() {
                let export = try export(adapter, model)
                for format in AdapterFormats.standard.all {
                    let path = directory + "/\(index).\(format.id)"
                    try export.write(format, to: path)
                    let back = try LoadedAdapter.read(
                        path, for: model, matching: ModulePatterns.matching)
                    #expect(back.format.id == format.id)
                    #expect(back.parameters.shape.layout == adapter.shape.layout, "\(path)")
                    #expect(back.parameters.values == adapter.values, "\(path)")
                    #expect(
                        LoadedAdapterTests.products(back.parameters)
                            == LoadedAdapterTests.products(adapter))
                    let summary = try AdapterSummary(path: path)
                    #expect(summary.parameterCount == adapter.shape.layout.count)
                    #expect(Set(summary.modules) == adapter.shape.modules)
                }
                let mlx = try SafetensorsFile(
                    path: directory + "/\(index).mlx/adapters.safetensors")
                let gguf = try GGUFFile(path: directory + "/\(index).gguf")
                if adapter.shape.hasEmbedding {
                    #expect(mlx.tensors["model.embed_tokens.lora_a"]?.shape == [320, 2])
                    #expect(mlx.tensors["model.embed_tokens.lora_b"]?.shape == [2, 64])
                    // llama.cpp looks tokens' rows up in A, and does not transpose B.
                    #expect(gguf.tensors["token_embd.weight.lora_a"]?.shape == [320, 2])
                    #expect(gguf.tensors["token_embd.weight.lora_b"]?.shape == [64, 2])
                }
                if adapter.shape.head != nil {
                    #expect(mlx.tensors["lm_head.lora_a"]?.shape == [64, 2])
                    #expect(gguf.tensors["output.weight.lora_a"]?.shape == [2, 64])
                    #expect(gguf.tensors["output.weight.lora_b"]?.shape == [320, 2])
                    let text = try String(
                        contentsOfFile: directory + "/\(index).mlx/adapter_config.json",
                        encoding: .utf8)
                    #expect(text.contains("\"lm_head\""))
                }
            }
        }
    }

    @Test("ranks and scales of their own are in every format")
    func exceptions() throws {
        try withModel(isTied: false) { model, directory in
            let adapter = adapter(
                [.query, .embedding, .head], model,
                exceptions: [
                    .init(edge: .embedding): .init(rank: 3, scale: 0.5),
                    .init(edge: .head): .init(rank: 1, scale: 2),
                ])
            let expected = LoadedAdapterTests.products(adapter)
            for format in AdapterFormats.standard.all {
                let path = directory + "/a.\(format.id)"
                try export(adapter, model).write(format, to: path)
                let back = try LoadedAdapter.read(
                    path, for: model, matching: ModulePatterns.matching)
                if format.id == "peft" {
                    #expect(back.parameters.values == adapter.values)
                    #expect(back.configuration.rankPattern == ["embed_tokens": 3, "lm_head": 1])
                }
                let found = LoadedAdapterTests.products(back.parameters)
                #expect(Set(found.keys) == Set(expected.keys))
                for (name, numbers) in expected {
                    for (a, b) in zip(numbers, found[name] ?? []) { #expect(abs(a - b) < 1e-5) }
                }
            }
        }
    }

    @Test("with a tied head, only PEFT's format has an adapter of one of the two")
    func tied() throws {
        try withModel(isTied: false) { untied, directory in
            let others: [any AdapterFormat] = [MLXAdapter(), GGUFAdapter()]
            for format in others {
                try export(adapter([.embedding], untied), untied).write(
                    format, to: directory + "/a.\(format.id)")
            }
            try withModel(isTied: true) { model, other in
                for target in TargetModule.edges {
                    let own = try export(adapter([.query, target], model), model)
                    try own.write(PEFTAdapter(), to: other + "/\(target.name)")
                    let back = try LoadedAdapter.read(
                        other + "/\(target.name)", for: model, matching: ModulePatterns.matching)
                    #expect(back.parameters.values == own.parameters.values)
                    for format in others {
                        #expect(
                            throws: AdapterError.tiedEdge(
                                module: target.name, format: format.name)
                        ) {
                            try own.write(format, to: other + "/x.\(format.id)")
                        }
                    }
                    #expect(throws: FuseError.tiedEdge(module: target.name)) {
                        try FuseInput(model: model, adapter: back.parameters)
                    }
                }
                for format in others {
                    #expect(
                        throws: AdapterError.tiedEdge(module: "embed_tokens", format: format.name)
                    ) {
                        try LoadedAdapter.read(
                            directory + "/a.\(format.id)", for: model,
                            matching: ModulePatterns.matching)
                    }
                }
            }
        }
    }

    /// Writes an adapter of query, embedding and head after changes, and reads it.
    func read(
        _ model: ModelDirectory, targets: [TargetModule] = [.query, .embedding, .head],
        config: (String) -> String = { $0 },
        changing change: (inout [String: SafetensorsWriter.Tensor]) throws -> Void = { _ in }
    ) throws -> LoadedAdapter {
        try TestPaths.withTemporaryDirectory { directory in
            try export(adapter(targets, model), model).write(PEFTAdapter(), to: directory + "/a")
            let file = try SafetensorsFile(path: directory + "/a/adapter_model.safetensors")
            var tensors = file.tensors.mapValues {
                SafetensorsWriter.Tensor(name: $0.name, shape: $0.shape, floats: $0.floats())
            }
            try change(&tensors)
            try AtomicFile.makeDirectory(directory + "/b")
            try SafetensorsWriter.write(
                Array(tensors.values), metadata: [:],
                to: directory + "/b/adapter_model.safetensors")
            let text = try String(
                contentsOfFile: directory + "/a/adapter_config.json", encoding: .utf8)
            try AtomicFile.write(config(text), to: directory + "/b/adapter_config.json")
            return try LoadedAdapter.read(
                directory + "/b", for: model, matching: ModulePatterns.matching)
        }
    }

    @Test("matrices that are missing, misshapen or not named in the configuration are refused")
    func damaged() throws {
        try withModel(isTied: true) { model, _ in
            func set(
                _ name: String, _ shape: [Int]?
            ) -> (inout [String: SafetensorsWriter.Tensor]) -> Void {
                { tensors in
                    tensors[name] = shape.map {
                        .init(
                            name: name, shape: $0,
                            floats: [Float](repeating: 0.5, count: $0.reduce(1, *)))
                    }
                }
            }
            _ = try read(model)
            for (name, shapes) in [
                (
                    Self.embedding + "A",
                    [nil, [2, 319], [3, 320], [320, 2], [640], [2, 320, 1], [0, 320]]
                ),
                (Self.embedding + "B", [nil, [63, 2], [64, 3], [2, 64], [], [64, 0]]),
                (Self.head + "lora_A.weight", [nil, [2, 65], [1, 64], [128]]),
                (Self.head + "lora_B.weight", [nil, [321, 2], [320, 1], [2, 320]]),
                // Other names, with or without their partner.
                (Self.embedding + "A.weight", [[2, 320]]), (Self.embedding + "C", [[2, 2]]),
                (Self.prefix + "embed_tokens.lora_embedding_A", [[2, 320]]),
                (Self.prefix + "model.language_model.embed_tokens.lora_embedding_A", [[2, 320]]),
                (Self.prefix + "model.embed_tokens.lora_magnitude_vector", [[64]]),
                (Self.prefix + "model.embed_tokens.weight", [[320, 64]]),
            ] as [(String, [[Int]?])] {
                for shape in shapes {
                    #expect(throws: FormatError.self, "\(name) \(shape ?? [])") {
                        _ = try read(model, changing: set(name, shape))
                    }
                }
            }
            #expect(throws: FormatError.self) {
                _ = try read(
                    model,
                    changing: { tensors in
                        for (name, shape) in [("A", [2, 320]), ("B", [64, 2])] {
                            let own =
                                Self.prefix
                                + "model.language_model.embed_tokens.lora_embedding_" + name
                            set(own, shape)(&tensors)
                        }
                    })
            }
            for (found, instead) in [
                ("\"embed_tokens\",", ""), ("\"embed_tokens\",", "\"model.embed\","),
                ("\"q_proj\"", "\"q_proj\", \"v_proj\""),
                ("\"use_dora\": false", "\"use_dora\": true"),
                // A list of layers has no place for a module that is named by its end.
                ("\"layers_to_transform\": null", "\"layers_to_transform\": [0, 1]"),
            ] {
                #expect(throws: FormatError.self, "\(instead)") {
                    _ = try read(model, config: { $0.replacing(found, with: instead) })
                }
            }
            // A module that is named, and has no matrices.
            #expect(throws: FormatError.self) {
                _ = try read(
                    model, targets: [.query, .embedding],
                    config: { $0.replacing("\"q_proj\"", with: "\"q_proj\", \"lm_head\"") })
            }
        }
    }

    @Test("a regular expression may name them; all-linear is neither")
    func names() throws {
        try withModel(isTied: true) { model, _ in
            func named(_ expression: String) -> (String) -> String {
                { text in
                    text.replacing(
                        /"target_modules": \[[^\]]*\]/,
                        with: "\"target_modules\": \"\(expression)\"")
                }
            }
            _ = try read(model, config: named(#"(.*\\.)?(q_proj|embed_tokens|lm_head)"#))
            for expression in ["all-linear", #".*\\.(q_proj|embed_tokens)"#, #".*q_proj"#] {
                #expect(throws: FormatError.self, "\(expression)") {
                    _ = try read(model, config: named(expression))
                }
            }
        }
    }

    @Test("a run goes on from such an adapter, with what it says of itself")
    func start() throws {
        try withModel(isTied: true) { model, directory in
            for targets in [[TargetModule.embedding], [.query, .embedding, .head]] {
                for layers in [0..<2, 1..<2] {
                    let path = directory + "/\(targets.count) \(layers.count)"
                    let own = adapter(targets, model, layers: layers)
                    try export(own, model).write(PEFTAdapter(), to: path)
                    var configuration = TrainingConfiguration.fixed
                    configuration.initAdapter = path
                    try configuration.take(Set(TrainingConfiguration.AdapterOption.allCases)) {
                        model
                    }
                    #expect(configuration.targetModules == targets)
                    #expect(configuration.rank == 2 && configuration.alpha == 6)
                    let shape = AdapterShape(
                        try configuration.lora(for: model.configuration),
                        model: model.configuration)
                    let loaded = try LoadedAdapter.read(
                        path, for: model, matching: ModulePatterns.matching)
                    #expect(try loaded.parameters.fitted(to: shape, nil).values == own.values)
                    let without = AdapterShape(
                        LoRAConfiguration(
                            rank: 2, scale: 3, dropout: 0, targets: [.query], layers: layers),
                        model: model.configuration)
                    #expect(throws: AdapterError.self) {
                        try loaded.parameters.fitted(to: without, nil)
                    }
                }
            }
        }
    }
}
