import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinTraining

/// Adapters that PEFT, mlx-lm and llama.cpp's converter wrote, of one set of numbers
/// (Tests/Fixtures/adapters/make.py).
@Suite struct LoadedAdapterTests {
    static let folder = TestPaths.fixture("adapters")

    static func withModel(_ body: (ModelDirectory) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            try body(ModelDirectory.open(directory + "/tiny.gguf"))
        }
    }

    /// What is added to each weight, scale B A, by the weight's name.
    static func products(_ adapter: AdapterParameters) -> [String: [Float]] {
        var products: [String: [Float]] = [:]
        for weight in adapter.weights {
            let (a, b) = (weight.a, weight.b)
            var out = [Float](repeating: 0, count: weight.outputs * weight.inputs)
            for row in 0..<weight.outputs {
                for column in 0..<weight.inputs {
                    var sum = 0.0
                    for r in 0..<weight.rank {
                        sum +=
                            Double(b[b.startIndex + row * weight.rank + r])
                            * Double(a[a.startIndex + r * weight.inputs + column])
                    }
                    out[row * weight.inputs + column] = Float(Double(weight.scale) * sum)
                }
            }
            products[weight.name] = out
        }
        return products
    }

    @Test("PEFT's, mlx-lm's and llama.cpp's files of one adapter are one adapter")
    func formats() throws {
        try Self.withModel { model in
            let peft = try LoadedAdapter.read(
                Self.folder + "/peft", for: model, matching: ModulePatterns.matching)
            #expect(peft.format.id == "peft" && peft.configuration.baseModelName == "tiny")
            #expect(peft.parameters.shape.configuration.scale == 3)
            for (name, id) in [("mlx", "mlx"), ("llamacpp.adapter", "gguf")] {
                let other = try LoadedAdapter.read(
                    Self.folder + "/" + name, for: model, matching: ModulePatterns.matching)
                #expect(other.format.id == id)
                #expect(other.parameters.values == peft.parameters.values, "\(name)")
                #expect(other.parameters.shape == peft.parameters.shape, "\(name)")
            }
            // llama.cpp's order of rows of q is not PEFT's.
            #expect(peft.parameters.values.contains { $0 != 0 })
        }
    }

    @Test("a rank-stabilized scale is alpha / sqrt(rank); patterns give modules their own")
    func scales() throws {
        try Self.withModel { model in
            let stable = try LoadedAdapter.read(
                Self.folder + "/peft-rslora", for: model, matching: ModulePatterns.matching)
            #expect(stable.parameters.shape.configuration.scale == Float(6 / 2.0.squareRoot()))
            let adapter = try LoadedAdapter.read(
                Self.folder + "/peft-patterns", for: model, matching: ModulePatterns.matching)
            let found = adapter.parameters.weights.map {
                "\($0.name.dropFirst(13).dropLast(7)) \($0.rank) \($0.scale)"
            }
            #expect(
                found == [
                    "0.self_attn.q_proj 2 3.0", "0.mlp.down_proj 2 2.5",
                    "1.self_attn.q_proj 1 6.0", "1.mlp.down_proj 2 3.0",
                ])
        }
    }

    @Test(
        "an adapter comes back from every format with the same bytes, or the same products",
        arguments: ["peft", "peft-rslora", "peft-patterns"])
    func roundTrips(name: String) throws {
        try Self.withModel { model in
            let source = try LoadedAdapter.read(
                Self.folder + "/" + name, for: model, matching: ModulePatterns.matching)
            let export = try AdapterExport(
                source.parameters, source: source.configuration, model: model)
            try TestPaths.withTemporaryDirectory { directory in
                for format in AdapterFormats.standard.all {
                    let path = directory + "/" + format.id
                    try export.write(format, to: path)
                    let back = try LoadedAdapter.read(
                        path, for: model, matching: ModulePatterns.matching)
                    #expect(back.format.id == format.id)
                    if name != "peft-patterns" || format.id == "peft" {
                        #expect(back.parameters.values == source.parameters.values)
                    }
                    let (one, other) = (
                        Self.products(source.parameters), Self.products(back.parameters)
                    )
                    #expect(one.keys == other.keys)
                    for (weight, product) in one {
                        let largest = zip(product, other[weight] ?? []).reduce(0) {
                            max($0, abs($1.0 - $1.1))
                        }
                        #expect(largest < 1e-5, "\(format.id) \(weight)")
                    }
                    #expect(
                        try bytes(of: format, path) == bytes(of: format, written(again: export)))
                }
                func written(again export: AdapterExport) throws -> String {
                    let path = directory + "/again-\(UUID())"
                    try export.write(PEFTAdapter(), to: path)
                    return path
                }
                func bytes(of format: any AdapterFormat, _ path: String) throws -> Data {
                    guard format.id == "peft" else { return Data() }
                    return try Data(
                        contentsOf: URL(fileURLWithPath: PEFTAdapter().weights(of: path)))
                }
            }
        }
    }

    @Test("keys are written with the prefix that is asked for, and read with any")
    func prefixes() throws {
        try Self.withModel { model in
            let source = try LoadedAdapter.read(
                Self.folder + "/peft", for: model, matching: ModulePatterns.matching)
            let export = try AdapterExport(
                source.parameters, source: source.configuration, model: model)
            try TestPaths.withTemporaryDirectory { directory in
                for (blocks, key) in [
                    (AdapterTensorName.Blocks.text, "base_model.model.model.layers.0."),
                    (.multimodal, "base_model.model.model.language_model.layers.0."),
                    (.outer, "base_model.model.language_model.model.layers.0."),
                ] {
                    for format in [PEFTAdapter(), MLXAdapter()] as [any AdapterFormat] {
                        let path = directory + "/\(blocks)-\(format.id)"
                        try export.write(format, to: path, blocks: blocks)
                        let back = try LoadedAdapter.read(
                            path, for: model, matching: ModulePatterns.matching)
                        #expect(back.parameters.values == source.parameters.values)
                    }
                    let file = try SafetensorsFile(
                        path: directory + "/\(blocks)-peft/adapter_model.safetensors")
                    #expect(file.tensors.keys.contains { $0.hasPrefix(key) })
                }
            }
        }
    }

    @Test("an adapter for another base model is refused with both hashes")
    func otherBase() throws {
        try Self.withModel { model in
            var source = try LoadedAdapter.read(
                Self.folder + "/peft", for: model, matching: ModulePatterns.matching)
            let digest = model.contentDigest()
            try source.check(base: digest)
            try TestPaths.withTemporaryDirectory { directory in
                for format in AdapterFormats.standard.all {
                    var configuration = source.configuration
                    configuration.origin = AdapterOrigin(
                        base: .init(name: "other", revision: nil, sha256: "beef"),
                        data: .init(sha256: "cafe", rowsSHA256: nil), recipe: ["rank": "2"])
                    let path = directory + "/" + format.id
                    try AdapterExport(
                        source.parameters, source: configuration, model: model
                    ).write(format, to: path)
                    let read = try LoadedAdapter.read(
                        path, for: model, matching: ModulePatterns.matching)
                    #expect(read.configuration.origin == configuration.origin)
                    #expect(
                        throws: AdapterError.otherBase(
                            adapter: path, expected: "beef", found: digest.description)
                    ) { try read.check(base: digest) }
                }
            }
            source = try LoadedAdapter.read(
                Self.folder + "/mlx", for: model, matching: ModulePatterns.matching)
            try source.check(base: digest)
        }
    }

    @Test("what is no adapter is refused by what is there")
    func notAdapters() throws {
        try TestPaths.withTemporaryDirectory { directory in
            func put(_ names: String...) throws -> String {
                let folder = directory + "/" + names.joined(separator: "+")
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true)
                for name in names { try AtomicFile.write("x", to: folder + "/" + name) }
                return folder
            }
            let both = try put("adapter_model.safetensors", "adapters.safetensors")
            #expect(
                throws: FormatError.notAnAdapter(
                    path: both,
                    found: "a folder with both adapter_model.safetensors and adapters.safetensors")
            ) { try AdapterFormats.standard.format(at: both) }
            let pickle = try put("adapter_model.bin")
            #expect(
                throws: ForeignFileError(
                    path: pickle + "/adapter_model.bin", kind: .pickle(isTorch: true), use: .adapter
                )
            ) { try AdapterFormats.standard.format(at: pickle) }
            let model = try put("config.json")
            #expect(
                throws: FormatError.modelAsAdapter(path: model)
            ) { try AdapterFormats.standard.format(at: model) }
            let half = try put("adapter_config.json")
            #expect(
                throws: FormatError.missingFile(
                    path: half, expected: "adapter_model.safetensors")
            ) { try AdapterFormats.standard.format(at: half) }
            let run = directory + "/run"
            let inner = run + "/adapter"
            try AtomicFile.makeDirectory(inner)
            try AtomicFile.write("x", to: inner + "/adapter_model.safetensors")
            #expect(
                throws: FormatError.notAnAdapter(
                    path: run, found: "the folder of a run, whose adapter is \(inner)")
            ) { try AdapterFormats.standard.format(at: run) }
            let text = directory + "/text"
            try AtomicFile.write("GGU", to: text)
            #expect(
                throws: FormatError.notAnAdapter(path: text, found: "a file of another kind")
            ) { try AdapterFormats.standard.format(at: text) }
            // Packed, and weights without the folder that they are in.
            for (start, kind) in [
                ([0x50, 0x4B, 3, 4] as [UInt8], ForeignFile.packed(.zip)),
                ([2, 0, 0, 0, 0, 0, 0, 0, 0x7B, 0x7D], .safetensors),
            ] {
                try AtomicFile.write(start, to: text)
                #expect(throws: ForeignFileError(path: text, kind: kind, use: .adapter)) {
                    try AdapterFormats.standard.format(at: text)
                }
            }
            #expect(throws: FormatError.notFound(path: directory + "/none")) {
                try AdapterFormats.standard.format(at: directory + "/none")
            }
            // A GGUF file with a model.
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            #expect(throws: FormatError.modelAsAdapter(path: directory + "/tiny.gguf")) {
                try GGUFAdapter().map(directory + "/tiny.gguf")
            }
        }
    }

    @Test("a GGUF adapter of another architecture is refused")
    func architecture() throws {
        try Self.withModel { model in
            try TestPaths.withTemporaryDirectory { directory in
                let path = directory + "/a.gguf"
                try GGUFWriter.write(
                    metadata: [
                        ("general.architecture", .string("qwen2")),
                        ("general.type", .string("adapter")), ("adapter.type", .string("lora")),
                        ("adapter.lora.alpha", .float32(1)),
                    ],
                    tensors: [("a", [1, 64]), ("b", [64, 1])].map { matrix, shape in
                        .init(
                            name: "blk.0.attn_q.weight.lora_" + matrix, shape: shape,
                            floats: [Float](repeating: 1, count: 64))
                    }, to: path)
                #expect(
                    throws: AdapterError.otherModel(
                        adapter: path, base: nil,
                        detail: "its architecture is qwen2, and this model's is llama")
                ) { try LoadedAdapter.read(path, for: model, matching: ModulePatterns.matching) }
            }
        }
    }
}
