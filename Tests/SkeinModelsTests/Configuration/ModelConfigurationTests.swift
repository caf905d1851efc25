import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite struct ModelConfigurationTests {
    /// A change of config.json or of GGUF metadata, and the error that it must give.
    struct Change: Sendable, CustomTestStringConvertible {
        let field: String
        /// JSON text; nil removes the field.
        let json: String?
        let expected: @Sendable (String) -> FormatError

        init(
            _ field: String, _ json: String?,
            _ expected: @escaping @Sendable (String) -> FormatError
        ) {
            self.field = field
            self.json = json
            self.expected = expected
        }

        var testDescription: String { "\(field) = \(json ?? "missing")" }
    }

    static let refusedNumbers: [Change] = [
        Change("model_type", nil) { .missingField(path: $0, field: "model_type") },
        Change("hidden_size", nil) { .missingField(path: $0, field: "hidden_size") },
        Change("hidden_size", "0") { bad($0, "hidden_size", "1 to 65536", "0") },
        Change("hidden_size", "-64") { bad($0, "hidden_size", "1 to 65536", "-64") },
        Change("hidden_size", "1000000") { bad($0, "hidden_size", "1 to 65536", "1000000") },
        Change("hidden_size", #""64""#) {
            bad($0, "hidden_size", "an integer", "another type")
        },
        Change("num_hidden_layers", "5000") {
            bad($0, "num_hidden_layers", "1 to 4096", "5000")
        },
        Change("num_attention_heads", "5") {
            bad($0, "num_key_value_heads", "a divisor of 5", "2")
        },
        Change("num_key_value_heads", "3") {
            bad($0, "num_key_value_heads", "a divisor of 4", "3")
        },
        Change("num_key_value_heads", "0") {
            bad($0, "num_key_value_heads", "1 to 1024", "0")
        },
        Change("head_dim", "15") { bad($0, "head_dim", "even", "15") },
        Change("rms_norm_eps", "0") { bad($0, "rms_norm_eps", "above 0 and below 1.0", "0.0") },
        Change("rope_theta", "-1") {
            bad($0, "rope_theta", "from 1.0 to below \(1e15)", "-1.0")
        },
        Change("rope_theta", "0.5") {
            bad($0, "rope_theta", "from 1.0 to below \(1e15)", "0.5")
        },
        Change("rope_scaling", #"{"type":"linear","factor":0.125}"#) {
            bad($0, "factor", "from 0.25 to below \(1e9)", "0.125")
        },
        Change("tie_word_embeddings", "1") {
            bad($0, "tie_word_embeddings", "true or false", "another type")
        },
    ]

    static let refusedVariants: [Change] = [
        Change("model_type", #""qwen3_moe""#) {
            unsupported($0, "model_type", "qwen3_moe (a mixture of experts)", folderNames)
        },
        Change("model_type", #""t0""#) { unsupported($0, "model_type", "t0", folderNames) },
        Change("hidden_act", #""gelu""#) { unsupported($0, "hidden_act", "gelu", "silu") },
        Change("attn_logit_softcapping", "50") {
            unsupported($0, "attn_logit_softcapping", "50.0", "none")
        },
        Change("sliding_window", "128") {
            unsupported($0, "sliding_window", "128", "full attention")
        },
        Change("partial_rotary_factor", "0.5") {
            unsupported($0, "partial_rotary_factor", "0.5", "1")
        },
        Change("rope_scaling", #"{"type":"dynamic","factor":4}"#) {
            unsupported($0, "rope_type", "dynamic", "default, linear, llama3, longrope or yarn")
        },
        Change("rope_scaling", #"{"other":1}"#) {
            unsupported($0, "rope_type", "other", "default, linear, llama3, longrope or yarn")
        },
        Change("rope_parameters", #"{"full_attention":{},"sliding_attention":{}}"#) {
            unsupported(
                $0, "rope_parameters", "one for each type of layer",
                "one for all layers in this family")
        },
        Change("rope_scaling", #"{"rope_type":"yarn","factor":4,"mscale":1,"mscale_all_dim":2}"#) {
            unsupported($0, "mscale", "1.0", "2.0, mscale_all_dim, or none")
        },
        Change("rope_scaling", #"{"rope_type":"linear"}"#) {
            .missingField(path: $0, field: "factor")
        },
        Change(
            "rope_scaling",
            #"{"rope_type":"llama3","factor":8,"low_freq_factor":4,"high_freq_factor":4}"#
        ) { bad($0, "high_freq_factor", "above 4.0", "4.0") },
        Change(
            "rope_scaling",
            #"{"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4}"#
        ) { .missingField(path: $0, field: "original_max_position_embeddings") },
    ]

    @Test(
        "an unsupported config.json is refused with the field",
        arguments: refusedNumbers + refusedVariants)
    func refused(change: Change) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeHuggingFaceFolder(to: directory)
            let path = directory + "/config.json"
            try write(TinyModel().configuration(), changing: change, to: path)
            #expect(throws: change.expected(path)) { _ = try ModelDirectory.open(directory) }
        }
    }

    @Test("fields that ask for nothing new are accepted")
    func accepted() throws {
        let changes = [
            ("model_type", #""mistral""#), ("sliding_window", "null"), ("sliding_window", "256"),
            ("head_dim", "16"), ("hidden_act", nil), ("attention_bias", nil), ("head_dim", "null"),
            ("rope_scaling", "null"), ("rope_scaling", #"{"type":"default"}"#),
            ("rope_parameters", #"{"rope_type":"default","rope_theta":10000.0}"#),
            ("unknown", #"{"a":[1]}"#),
        ]
        for (field, json) in changes {
            try TestPaths.withTemporaryDirectory { directory in
                try TinyModel().writeHuggingFaceFolder(to: directory)
                let change = Change(field, json) { .notFound(path: $0) }
                try write(
                    TinyModel().configuration(), changing: change, to: directory + "/config.json")
                let configuration = try ModelDirectory.open(directory).configuration
                #expect(configuration.ropeFrequencyDivisors == nil && configuration.width == 64)
            }
        }
    }

    @Test("Llama-3 divisors are those of llama.cpp's conversion, in either spelling")
    func llama3() throws {
        struct Row: Decodable {
            let dimension: Int
            let theta, factor, low, high, original: Double
            let divisors: [Float]
        }
        let url = URL(fileURLWithPath: TestPaths.fixture("formats/rope.json"))
        for row in try JSONDecoder().decode([Row].self, from: Data(contentsOf: url)) {
            let divisors = RopeScaling.llama3Divisors(
                headDimension: row.dimension, theta: row.theta, factor: row.factor, low: row.low,
                high: row.high, originalContextLength: row.original)
            #expect(divisors.count == row.divisors.count)
            for (found, expected) in zip(divisors, row.divisors) {
                #expect(abs(found - expected) <= 1e-6 * expected)
            }
            guard row.dimension == 16 else { continue }
            let numbers =
                #""factor":4.0,"low_freq_factor":1.0,"high_freq_factor":4.0,"#
                + #""original_max_position_embeddings":64"#
            #expect(try parsed("rope_scaling", #"{"rope_type":"llama3",\#(numbers)}"#) == divisors)
            #expect(try parsed("rope_scaling", #"{"type":"llama3",\#(numbers)}"#) == divisors)
            let newer = #"{"rope_type":"llama3","rope_theta":10000.0,\#(numbers)}"#
            #expect(try parsed("rope_parameters", newer) == divisors)
        }
        #expect(
            try parsed("rope_scaling", #"{"type":"linear","factor":2.0}"#)
                == [Float](repeating: 2, count: 8))
    }

    /// A change of GGUF metadata, and the error that it must give.
    struct MetadataChange: Sendable, CustomTestStringConvertible {
        let key: String
        /// nil removes the key.
        let value: GGUFImage.Value?
        let expected: @Sendable (String) -> FormatError

        init(
            _ key: String, _ value: GGUFImage.Value?,
            _ expected: @escaping @Sendable (String) -> FormatError
        ) {
            self.key = key
            self.value = value
            self.expected = expected
        }

        var testDescription: String { "\(key) = \(value.map { "\($0)" } ?? "missing")" }
    }

    static let refusedMetadata: [MetadataChange] = [
        MetadataChange("general.architecture", .string("lfm2")) {
            unsupported(
                $0, "general.architecture",
                "lfm2 (with short convolutions between attention layers)",
                "llama, mistral3, qwen2, qwen3, smollm3, granite, olmo2, gemma2, gemma3 or phi3")
        },
        MetadataChange("general.architecture", nil) {
            .missingField(path: $0, field: "general.architecture")
        },
        MetadataChange("general.type", .string("adapter")) {
            .standsForModel(path: $0, found: .adapter)
        },
        MetadataChange("llama.block_count", .uint32(0)) {
            bad($0, "llama.block_count", "1 to 4096", "0")
        },
        MetadataChange("llama.block_count", .string("2")) {
            bad($0, "llama.block_count", "an integer", "a string")
        },
        MetadataChange("llama.block_count", .uint64(.max)) {
            bad($0, "llama.block_count", "1 to 4096", "9223372036854775807")
        },
        MetadataChange("llama.attention.head_count_kv", .uint32(3)) {
            bad($0, "llama.attention.head_count_kv", "a divisor of 4", "3")
        },
        MetadataChange("llama.expert_count", .uint32(8)) {
            unsupported($0, "llama.expert_count", "8", "0")
        },
        MetadataChange("llama.rope.dimension_count", .uint32(8)) {
            unsupported($0, "llama.rope.dimension_count", "8", "16, the head dimension")
        },
        MetadataChange("llama.rope.scaling.type", .string("dynamic")) {
            unsupported(
                $0, "llama.rope.scaling.type", "dynamic", "none, linear, longrope or yarn")
        },
        MetadataChange("llama.rope.scaling.type", .string("yarn")) {
            .missingField(path: $0, field: "llama.rope.scaling.factor")
        },
        MetadataChange("llama.vocab_size", .uint32(321)) {
            .wrongShape(
                path: $0, tensor: "model.embed_tokens.weight", expected: [321, 64],
                found: [320, 64])
        },
        MetadataChange("llama.feed_forward_length", .uint32(96)) {
            .wrongShape(
                path: $0, tensor: "model.layers.0.mlp.gate_proj.weight", expected: [96, 64],
                found: [128, 64])
        },
        MetadataChange("llama.block_count", .uint32(1)) {
            .unexpectedTensor(path: $0, tensor: "model.layers.1.input_layernorm.weight")
        },
        MetadataChange("llama.block_count", .uint32(3)) {
            .missingTensor(path: $0, tensor: "model.layers.2.input_layernorm.weight")
        },
    ]

    @Test(
        "unsupported GGUF metadata is refused with the field", arguments: refusedMetadata)
    func gguf(change: MetadataChange) throws {
        var image = TinyModel().gguf()
        image.metadata.removeAll { $0.key == change.key }
        if let value = change.value { image.metadata.append((change.key, value)) }
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try AtomicFile.write(image.bytes(), to: path)
            #expect(throws: change.expected(path)) { _ = try ModelDirectory.open(path) }
        }
    }

    @Test("GGUF's rope_freqs become divisors, and a bias or a second architecture is refused")
    func ggufTensors() throws {
        let divisors = (1...8).map { Float($0) }
        #expect(try open(adding: tensor("rope_freqs.weight", [8], floats: divisors)) == divisors)
        #expect(throws: FormatError.self) {
            _ = try open(adding: tensor("rope_freqs.weight", [4], floats: [1, 1, 1, 1]))
        }
        // By the engine or for the biases that are missing, whichever comes first.
        #expect(throws: (any Error).self) {
            _ = try open(
                adding: tensor("blk.0.attn_q.bias", [64], floats: [Float](repeating: 0, count: 64)))
        }
    }

    @Test("GGUF's rotary factor is the one that llama.cpp uses")
    func ggufScaling() throws {
        func found(
            _ pairs: [(String, GGUFImage.Value)], isNew: Bool? = nil
        ) throws -> Float {
            var image = TinyModel().gguf()
            image.metadata += pairs.map { (key: "llama.rope." + $0.0, value: $0.1) }
            let configuration = try opened(image)
            let divisors = configuration.ropeFrequencyDivisors
            let factor = configuration.newlyReadRopeFactor
            #expect(factor.map { Float($0) } ?? divisors?[0] ?? 1 == divisors?[0] ?? 1)
            #expect(isNew == nil || isNew == (factor != nil), "\(pairs)")
            #expect(divisors == nil || divisors == [Float](repeating: divisors?[0] ?? 0, count: 8))
            return divisors?[0] ?? 1
        }
        let factor = ("scaling.factor", GGUFImage.Value.float32(4))
        let older = ("scale_linear", GGUFImage.Value.float32(3))
        func type(_ name: String) -> (String, GGUFImage.Value) { ("scaling.type", .string(name)) }
        // isNew: whether versions before 2026-11-22 read another factor.
        let table: [([(String, GGUFImage.Value)], Float, isNew: Bool)] = [
            ([], 1, false), ([factor], 4, true), ([older], 3, false), ([factor, older], 4, true),
            ([type("linear"), factor], 4, false), ([type("linear"), older], 3, false),
            ([type("none"), factor], 1, false), ([type("none"), older], 1, true),
            ([("scaling.factor", .float32(0))], 1, false),
            ([("scaling.factor", .float32(0)), older], 1, true),
        ]
        for (pairs, expected, isNew) in table {
            #expect(try found(pairs, isNew: isNew) == expected, "\(pairs)")
        }
        #expect(throws: FormatError.self) { try found([type("linear")]) }
        for bad: Float in [-1, 0.125, .infinity, .nan] {
            #expect(throws: FormatError.self) { try found([("scaling.factor", .float32(bad))]) }
        }
        // Both: a divisor times the factor.
        var image = TinyModel().gguf()
        image.metadata.append((key: "llama.rope.scaling.factor", value: .float32(4)))
        image.tensors.append(
            tensor("rope_freqs.weight", [8], floats: (1...8).map { Float($0) }))
        #expect(try open(image) == (1...8).map { Float($0 * 4) })
    }

    @Test("the head dimension that a file states is read from both formats")
    func statedHeadDimension() throws {
        for tiny in TinyModel.otherHeads {
            try TestPaths.withTemporaryDirectory { directory in
                try tiny.writeGGUF(to: directory + "/tiny.gguf")
                try tiny.writeHuggingFaceFolder(to: directory)
                for path in [directory + "/tiny.gguf", directory] {
                    let model = try ModelDirectory.open(path).configuration
                    #expect(model.headDimension == tiny.headDimension)
                    #expect(model.headCount * model.headDimension != model.width)
                }
            }
        }
    }

    private func open(adding tensor: GGUFImage.Tensor) throws -> [Float]? {
        var image = TinyModel().gguf()
        image.tensors.append(tensor)
        return try open(image)
    }

    private func open(_ image: GGUFImage) throws -> [Float]? {
        try opened(image).ropeFrequencyDivisors
    }

    private func opened(_ image: GGUFImage) throws -> ModelConfiguration {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            return try ModelDirectory.open(directory + "/tiny.gguf").configuration
        }
    }

    private func parsed(_ field: String, _ json: String) throws -> [Float]? {
        try TestPaths.withTemporaryDirectory { directory in
            let change = Change(field, json) { .notFound(path: $0) }
            let path = directory + "/config.json"
            try write(TinyModel().configuration(), changing: change, to: path)
            return try FamilyRegistry.standard.read(ModelDescription.open(directory))
                .configuration.ropeFrequencyDivisors
        }
    }

    private func write(
        _ configuration: [String: Any], changing change: Change, to path: String
    ) throws {
        var fields = configuration
        fields[change.field] = try change.json.map {
            try JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)
        }
        try AtomicFile.write(Array(JSONSerialization.data(withJSONObject: fields)), to: path)
    }
}

private let folderNames =
    "llama, mistral, mistral3, ministral3, qwen2, qwen3, smollm3, granite, granitemoehybrid, "
    + "olmo2, olmo3, gemma2, gemma3_text, gemma3 or phi3"

private func bad(
    _ path: String, _ field: String, _ expected: String, _ found: String
) -> FormatError {
    .badField(path: path, field: field, expected: expected, found: found)
}

private func unsupported(
    _ path: String, _ field: String, _ found: String, _ supported: String
) -> FormatError {
    .unsupported(path: path, field: field, found: found, supported: supported)
}
