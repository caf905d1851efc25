import SkeinFormats

/// The known families, found by the names in a model's files.
package struct FamilyRegistry: Sendable {
    package static let standard = FamilyRegistry([
        Llama(), Mistral(), Ministral3(), Qwen2(), Qwen3(), SmolLM3(), Granite(), Granite4(),
        Olmo2(), Olmo3(), Gemma2(), Gemma3(), Phi3(),
    ])

    private let families: [any ModelFamily]

    package init(_ families: [any ModelFamily]) {
        self.families = families
    }

    /// The family of a model, and the model's configuration.
    ///
    /// - Throws: `FormatError` for an unknown family (it lists the known ones), for a missing or
    ///   invalid field and for what is not computed.
    func read(
        _ description: ModelDescription
    ) throws -> (family: any ModelFamily, configuration: ModelConfiguration) {
        switch description {
        case .gguf(let file):
            let fields = GGUFFields(file)
            let (family, layout) = try family(of: fields)
            return (family, try ModelConfiguration(file, fields, family, layout))
        case .folder(let folder): return try read(folder)
        }
    }

    private func read(
        _ folder: FolderConfiguration
    ) throws -> (family: any ModelFamily, configuration: ModelConfiguration) {
        let check = ConfigurationCheck(path: folder.path)
        guard let type = try folder.decode(ModelTypeField.self).modelType else {
            throw check.missing("model_type")
        }
        if let family = families.first(where: { $0.modelTypes.contains(type) }) {
            let fields = try folder.decode(NullableFields.self)
            return (family, try ModelConfiguration(fields, family, check))
        }
        guard let outer = families.first(where: { $0.multimodalTypes.contains(type) }) else {
            throw unknown(
                "model_type", type, families.flatMap { $0.modelTypes + $0.multimodalTypes },
                check)
        }
        let text = try folder.decode(TextConfigurationField.self).text
        let within = ConfigurationCheck(path: folder.path, prefix: "text_config.")
        let inner = text.fields.modelType ?? outer.modelTypes[0]
        guard let family = families.first(where: { $0.modelTypes.contains(inner) }) else {
            throw unknown("model_type", inner, families.flatMap(\.modelTypes), within)
        }
        let around = try folder.decode(ConfigurationFields.self)
        return (family, try ModelConfiguration(text, outer: around, family, within))
    }

    private func family(of fields: GGUFFields) throws -> (any ModelFamily, GGUFLayout) {
        let field = "general.architecture"
        guard let name = try fields.string(field) else { throw fields.check.missing(field) }
        for family in families {
            if let layout = family.gguf, layout.architectures.contains(name) {
                return (family, layout)
            }
        }
        throw unknown(field, name, families.flatMap { $0.gguf?.architectures ?? [] }, fields.check)
    }

    private func unknown(
        _ field: String, _ name: String, _ known: [String], _ check: ConfigurationCheck
    ) -> FormatError {
        let why = OtherArchitectures.what(name).map { " (\($0))" } ?? ""
        return check.unsupported(field, name + why, Self.list(known))
    }

    /// "a", "a or b", "a, b or c".
    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }
}

/// What well-known models have that no family here computes, to say so in the error.
enum OtherArchitectures {
    /// What a model of this name has; nil for an unknown name.
    ///
    /// `name`: of config.json's model_type or general.architecture.
    static func what(_ name: String) -> String? {
        let bare = name.filter { $0 != "_" && $0 != "-" && $0 != "." }.lowercased()
        return parts.first { part in part.names.contains { bare.hasPrefix($0) } }?.what
            ?? (bare.contains("moe") ? "a mixture of experts" : nil)
    }

    private static let parts: [(names: [String], what: String)] = [
        (
            [
                "granitehybrid", "mamba", "falconmamba", "falconh1", "jamba", "zamba", "bamba",
                "nemotronh", "plamo2",
            ], "with Mamba layers"
        ),
        (["lfm2", "lfm3"], "with short convolutions between attention layers"),
        (["qwen35", "qwen3next", "olmohybrid", "kimilinear"], "with Gated DeltaNet layers"),
        (["gemma3n", "gemma4"], "with embeddings in each layer and shared keys and values"),
        (
            [
                "mixtral", "gptoss", "deepseekv2", "deepseekv3", "deepseek2", "llama4", "mistral4",
                "dbrx",
            ], "a mixture of experts"
        ),
        (
            ["qwen2vl", "qwen25vl", "qwen3vl", "llava", "mllama", "smolvlm", "idefics", "clip"],
            "with vision"
        ),
        (["t5", "bart", "whisper"], "an encoder and a decoder"),
    ]
}

extension ModelDirectory {
    /// Whether the family has models with vision, whose text model's weights have a longer name.
    ///
    /// - Throws: `FileError`, `FormatError`.
    package func mayHaveVision() throws -> Bool {
        let family = try FamilyRegistry.standard.read(ModelDescription.open(path)).family
        return !family.multimodalTypes.isEmpty
    }
}
