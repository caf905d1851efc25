import SkeinFormats

/// The known families, found by the names in a model's files.
package struct FamilyRegistry: Sendable {
    package static let standard = FamilyRegistry([Llama(), Mistral()])

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
        case .folder(let folder):
            let fields = try folder.decode(ConfigurationFields.self)
            let check = ConfigurationCheck(path: folder.path)
            guard let family = families.first(where: { $0.modelTypes.contains(fields.modelType) })
            else {
                throw check.unsupported(
                    "model_type", fields.modelType, Self.list(families.flatMap(\.modelTypes)))
            }
            return (family, try ModelConfiguration(fields, family, check))
        }
    }

    private func family(of fields: GGUFFields) throws -> (any ModelFamily, GGUFLayout) {
        let field = "general.architecture"
        guard let name = try fields.string(field) else {
            throw FormatError.missingField(path: fields.check.path, field: field)
        }
        for family in families {
            if let layout = family.gguf, layout.architectures.contains(name) {
                return (family, layout)
            }
        }
        let known = families.flatMap { $0.gguf?.architectures ?? [] }
        throw fields.check.unsupported(field, name, Self.list(known))
    }

    /// "a", "a or b", "a, b or c".
    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }
}
