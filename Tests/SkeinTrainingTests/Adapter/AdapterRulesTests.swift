import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinTraining

/// What adapter_config.json says of names, against what is in the file.
@Suite struct AdapterRulesTests {
    /// PEFT's adapter of q_proj and down_proj in both layers, with some fields of its configuration
    /// changed; `dropping`: tensors that are left out.
    private func read(
        _ changes: [String: Any], dropping: String? = nil,
        _ body: (_ directory: String, _ read: () throws -> LoadedAdapter) throws -> Void
    ) throws {
        try LoadedAdapterTests.withModel { model in
            try TestPaths.withTemporaryDirectory { directory in
                let sound = LoadedAdapterTests.folder + "/peft"
                let data = try Data(
                    contentsOf: URL(fileURLWithPath: sound + "/adapter_config.json"))
                var fields = try #require(
                    try JSONSerialization.jsonObject(with: data) as? [String: Any])
                fields.merge(changes) { $1 }
                try AtomicFile.write(
                    Array(try JSONSerialization.data(withJSONObject: fields)),
                    to: directory + "/adapter_config.json")
                let file = try SafetensorsFile(path: sound + "/adapter_model.safetensors")
                try SafetensorsWriter.write(
                    file.tensors.filter { name, _ in
                        dropping.map { !name.contains($0) } ?? true
                    }.map { .init(name: $0, shape: $1.shape, floats: $1.floats()) },
                    metadata: [:], to: directory + "/adapter_model.safetensors")
                try body(directory) {
                    try LoadedAdapter.read(directory, for: model, matching: ModulePatterns.matching)
                }
            }
        }
    }

    private static let q = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"

    @Test("lists, ends of names and expressions say which modules are adapted")
    func accepted() throws {
        let unsloth =
            "(?:.*?(?:language|text).*?(?:self_attn|attn|mlp).*?(?:q_proj|down_proj).*?)"
            + "|(?:\\bmodel\\.layers\\.[\\d]{1,}\\.(?:self_attn|attention|mlp)\\.(?:(?:q_proj|down_proj)))"
        let targets: [Any] = [
            ["q_proj", "down_proj"], ["self_attn.q_proj", "mlp.down_proj", "query_key_value"],
            ".*(q|down)_proj", #"model\.layers\.\d+\.(self_attn\.q|mlp\.down)_proj"#, unsloth,
            #"^(?!.*vision).*\.(q_proj|down_proj)$"#,
        ]
        for target in targets {
            try read(["target_modules": target]) { _, read in
                let count = try read().parameters.weights.count
                #expect(count == 4, "\(target)")
            }
        }
        try read(
            [
                "target_modules": ["q_proj", "down_proj", "k_proj"], "exclude_modules": ".*k_proj",
                "layers_to_transform": [0, 1],
            ]
        ) { _, read in
            let count = try read().parameters.weights.count
            #expect(count == 4)
        }
    }

    @Test("a module that is named and not there, or there and not named, is refused by name")
    func different() throws {
        try read(["target_modules": ["q_proj", "down_proj", "v_proj"]]) { directory, read in
            #expect(
                throws: FormatError.missingTensor(
                    path: directory + "/adapter_model.safetensors",
                    tensor: "base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight")
            ) { try read() }
        }
        for changes: [String: Any] in [
            ["target_modules": ["down_proj"]], ["layers_to_transform": [1]],
            ["exclude_modules": ["layers.0.self_attn.q_proj"]],
            ["target_modules": ".*\\.down_proj"], ["target_modules": "nothing"],
        ] {
            try read(changes) { directory, read in
                #expect("\(changes)") { try read() } throws: { error in
                    guard case FormatError.unnamedModule(_, let tensor) = error else {
                        return false
                    }
                    return tensor.contains("layers.0.")
                }
            }
        }
        // Half of a pair, and a module of one layer.
        for (dropped, missing) in [
            (Self.q, Self.q), ("layers.0.self_attn.q_proj", Self.q),
        ] {
            try read([:], dropping: dropped) { directory, read in
                #expect(
                    throws: FormatError.missingTensor(
                        path: directory + "/adapter_model.safetensors", tensor: missing)
                ) { try read() }
            }
        }
    }

    @Test("a scale that no number of 32 bits is, is refused", arguments: [1e300, -1e39])
    func scale(_ alpha: Double) throws {
        for changes: [String: Any] in [
            ["lora_alpha": alpha], ["alpha_pattern": ["q_proj": alpha]],
        ] {
            try read(changes) { _, read in
                #expect("\(changes)") { try read() } throws: { error in
                    guard case FormatError.badField(_, let field, _, _) = error else {
                        return false
                    }
                    return field.hasPrefix("scale of ")
                }
            }
        }
    }

    @Test("a pattern that fits no module, or two that disagree, are refused")
    func patterns() throws {
        let rows: [(String, [String: Int], String, String)] = [
            (
                "alpha_pattern", ["v_proj": 3], "patterns that fit a module of the adapter",
                "'v_proj'"
            ),
            (
                "rank_pattern", ["proj": 2], "patterns that fit a module of the adapter", "'proj'"
            ),
            (
                "alpha_pattern", ["q_proj": 3, "layers.0.self_attn.q_proj": 4],
                "one value for model.layers.0.self_attn.q_proj",
                "4 by 'layers.0.self_attn.q_proj' and 3 by 'q_proj'"
            ),
        ]
        for (field, value, expected, found) in rows {
            try read([field: value]) { directory, read in
                #expect {
                    try read()
                } throws: { error in
                    guard case FormatError.badField(_, field, expected, let text) = error else {
                        return false
                    }
                    return text.replacing(".0 by", with: " by") == found
                }
            }
        }
        // Another rank than the matrices have.
        try read(["rank_pattern": ["q_proj": 4]]) { _, read in
            #expect {
                try read()
            } throws: { error in
                guard case FormatError.wrongShape(_, Self.q, [4, 64], [2, 64]) = error else {
                    return false
                }
                return true
            }
        }
    }

    @Test("expressions that cannot be used are refused with the reason, in little time")
    func expressions() throws {
        for (expression, reason) in [
            ("(", "partner"), ("(?P<x>a)(?P=x)", "("),

        ] {
            try read(["target_modules": expression]) { _, read in
                #expect("\(expression)") {
                    try read()
                } throws: { error in
                    guard case FormatError.badField(_, "target_modules", _, let found) = error
                    else { return false }
                    return found.contains(reason)
                }
            }
        }
        // More ways to match than there is time for, but for what has failed before.
        try read(["target_modules": String(repeating: "(.*.*)", count: 20) + "!"]) { _, read in
            #expect(throws: FormatError.self) { try read() }
        }
        let many = Dictionary(uniqueKeysWithValues: (0..<1025).map { ("a\($0)", 2) })
        try read(["alpha_pattern": many]) { _, read in
            #expect(throws: FormatError.self) { try read() }
        }
    }

    @Test("a number that is not finite is refused with its matrix")
    func notFinite() throws {
        try LoadedAdapterTests.withModel { model in
            let source = try LoadedAdapter.read(
                LoadedAdapterTests.folder + "/peft", for: model, matching: ModulePatterns.matching)
            for value in [Float.nan, .infinity] {
                var parameters = source.parameters
                parameters.values[5] = value
                try TestPaths.withTemporaryDirectory { directory in
                    for format in AdapterFormats.standard.all {
                        let path = directory + "/" + format.id
                        try AdapterExport(
                            parameters, source: source.configuration, model: model
                        ).write(format, to: path)
                        #expect(throws: AdapterError.notFinite(name: Self.q)) {
                            try LoadedAdapter.read(
                                path, for: model, matching: ModulePatterns.matching)
                        }
                    }
                }
            }
        }
    }

    @Test("a run goes on from an adapter of any format, but not from one of another shape")
    func fitted() throws {
        try LoadedAdapterTests.withModel { model in
            func shape(_ rank: Int, _ scale: Float, _ targets: [TargetModule]) -> AdapterShape {
                AdapterShape(
                    LoRAConfiguration(
                        rank: rank, scale: scale, dropout: 0, targets: targets, layers: 0..<2),
                    model: model.configuration)
            }
            let own = shape(2, 3, [.query, .down])
            for name in ["peft", "mlx", "llamacpp.adapter"] {
                let loaded = try LoadedAdapter.read(
                    LoadedAdapterTests.folder + "/" + name, for: model,
                    matching: ModulePatterns.matching)
                #expect(
                    try loaded.parameters.fitted(to: own, nil).values == loaded.parameters.values)
                #expect(throws: AdapterError.scale(expected: 2, found: 3)) {
                    try loaded.parameters.fitted(to: shape(2, 2, [.query, .down]), nil)
                }
                #expect(
                    throws: AdapterError.unexpectedMatrix(
                        name: Self.q.replacing("layers.0.self_attn.q", with: "layers.0.mlp.down"))
                ) {
                    try loaded.parameters.fitted(to: shape(2, 3, [.query]), nil)
                }
                #expect(throws: AdapterError.self) {
                    try loaded.parameters.fitted(to: shape(4, 3, [.query, .down]), nil)
                }
            }
            let uneven = try LoadedAdapter.read(
                LoadedAdapterTests.folder + "/peft-patterns", for: model,
                matching: ModulePatterns.matching)
            #expect(throws: AdapterError.uneven) { try uneven.parameters.fitted(to: own, nil) }
        }
    }

    @Test(
        "an adapter of some layers is written with their numbers, one of odd modules by their names"
    )
    func layers() throws {
        try LoadedAdapterTests.withModel { model in
            func exported(_ exceptions: [LoRAConfiguration.Place: LoRAConfiguration.Strength?])
                throws
                -> String
            {
                let shape = AdapterShape(
                    LoRAConfiguration(
                        rank: 2, scale: 1, dropout: 0, targets: [.query, .down], layers: 0..<2,
                        exceptions: exceptions), model: model.configuration)
                let parameters = AdapterParameters(shape: shape, seed: 1)
                return try TestPaths.withTemporaryDirectory { directory in
                    let path = directory + "/out"
                    let source = AdapterConfiguration(
                        rank: 2, alpha: 2, dropout: 0, targetModules: [], baseModelName: "")
                    try AdapterExport(parameters, source: source, model: model)
                        .write(PEFTAdapter(), to: path)
                    let back = try LoadedAdapter.read(
                        path, for: model, matching: ModulePatterns.matching
                    ).parameters
                    #expect(back.values == parameters.values)
                    #expect(back.weights.map(\.scale) == parameters.weights.map(\.scale))
                    return try String(
                        contentsOfFile: path + "/adapter_config.json", encoding: .utf8)
                }
            }
            let last = try exported([
                .init(layer: 0, module: .query): nil, .init(layer: 0, module: .down): nil,
            ])
            #expect(last.contains("\"layers_to_transform\": [1]"))
            #expect(last.contains("\"target_modules\": [\"q_proj\",\"down_proj\"]"))
            let odd = try exported([
                .init(layer: 0, module: .query): nil,
                .init(layer: 1, module: .down): .init(rank: 1, scale: 3),
            ])
            #expect(odd.contains("\"layers_to_transform\": null"))
            #expect(
                odd.contains("\"layers.0.mlp.down_proj\",\"layers.1.self_attn.q_proj\""))
            #expect(odd.contains("\"rank_pattern\": {\"layers.1.mlp.down_proj\":1}"))
            #expect(odd.contains("\"alpha_pattern\": {\"layers.1.mlp.down_proj\":3}"))
        }
    }

    @Test("a base model is known by its repository in a cache of the Hub, else by its file")
    func baseNames() {
        let commit = String(repeating: "0a", count: 20)
        let inside = "/c/models--org--name-x/snapshots/" + commit
        for path in [inside, inside + "/model.gguf"] {
            let base = BaseModelName(path: path)
            #expect(base.name == "org/name-x" && base.revision == commit)
            let file = path.hasSuffix(".gguf") ? ":model.gguf" : ""
            #expect(base.reference == "org/name-x@" + commit + file)
        }
        for path in ["/c/models--org--name/snapshots/main/x", "/c/snapshots/" + commit + "/x", "x"]
        {
            #expect(BaseModelName(path: path) == BaseModelName(path: "x"))
            #expect(BaseModelName(path: path).reference == "x")
        }
    }
}
