/// Typed access to the metadata of a GGUF file.
package struct GGUFFields {
    private let metadata: [String: GGUFValue]
    package let check: ConfigurationCheck
    /// general.architecture; empty when it is missing or not a string.
    package let architecture: String

    package init(_ gguf: GGUFFile) {
        metadata = gguf.metadata
        check = ConfigurationCheck(path: gguf.path)
        if case .string(let name) = metadata["general.architecture"] {
            architecture = name
        } else {
            architecture = ""
        }
    }

    /// The key of a field of this architecture: "llama.block_count" for "block_count".
    package func key(_ name: String) -> String { "\(architecture).\(name)" }

    /// nil when the field is missing; the same holds for `integer` and `number`.
    ///
    /// - Throws: `FormatError.badField` for another type.
    package func string(_ field: String) throws -> String? {
        switch metadata[field] {
        case nil: return nil
        case .string(let text): return text
        case .some(let value): throw check.bad(field, "a string", value.kind)
        }
    }

    /// - Throws: `FormatError.badField` for another type.
    package func integer(_ field: String) throws -> Int? {
        switch metadata[field] {
        case nil: return nil
        case .unsigned(let number): return Int(clamping: number)
        case .integer(let number): return Int(clamping: number)
        case .some(let value): throw check.bad(field, "an integer", value.kind)
        }
    }

    /// An integer that holds for every layer: one for all, or a list of equal ones.
    ///
    /// - Throws: `FormatError.badField` for another type or list.
    package func integer(_ field: String, layers: Int) throws -> Int? {
        guard case .integers(let numbers)? = metadata[field] else { return try integer(field) }
        guard numbers.count == layers, let first = numbers.first,
            numbers.allSatisfy({ $0 == first })
        else {
            throw check.bad(field, "an integer, or a list of \(layers) equal ones", "another list")
        }
        return Int(clamping: first)
    }

    /// - Throws: `FormatError.badField` for another type.
    package func number(_ field: String) throws -> Double? {
        switch metadata[field] {
        case nil: return nil
        case .float(let number): return number
        case .some(let value): throw check.bad(field, "a float", value.kind)
        }
    }

    /// The value of any type; nil when the field is missing.
    package func value(_ field: String) -> GGUFValue? { metadata[field] }

    /// - Throws: `FormatError.missingField`, `.badField`.
    package func required(_ field: String) throws -> Double {
        guard let number = try number(field) else {
            throw FormatError.missingField(path: check.path, field: field)
        }
        return number
    }

    /// - Throws: `FormatError.missingField`, `.badField`.
    package func size(_ field: String, limit: Int) throws -> Int {
        try check.size(field, try integer(field), limit: limit)
    }
}
