import SkeinGrammar

/// A schema in its coded form, which is JSON Schema.
enum SchemaText {
    /// The coded form, with `x-order`.
    ///
    /// - Throws: `GenerationSchema.SchemaError`.
    static func coded(_ schema: GenerationSchema) throws -> JSONText {
        CodedSchema.withOrder(try schema.json())
    }

    /// The schema of a coded form; nil if that is no object.
    static func schema(_ coded: JSONText) -> GenerationSchema? {
        coded.fields == nil ? nil : GenerationSchema(.document(CodedSchema.ordered(coded)))
    }

    /// What the values of a schema are.
    enum Kind: Equatable {
        /// Objects alone.
        case object
        /// Anything else.
        case other
    }

    /// What the values of a schema are: `$ref` is followed into `$defs`, and each member of `anyOf`
    /// must be an object.
    ///
    /// - Throws: what the schema throws.
    static func kind(of schema: GenerationSchema) throws -> Kind {
        let root = try schema.json()
        return isObject(root, in: root, depth: 0) ? .object : .other
    }

    private static func isObject(_ schema: JSONText, in root: JSONText, depth: Int) -> Bool {
        // References that lead in a circle without a value between have no values at all.
        guard depth < 64 else { return false }
        if let reference = schema["$ref"]?.string {
            guard reference != "#" else { return isObject(root, in: root, depth: depth + 1) }
            let prefix = "#/$defs/"
            guard reference.hasPrefix(prefix) else { return false }
            let name = String(reference.dropFirst(prefix.count)).replacing("~1", with: "/")
                .replacing("~0", with: "~")
            guard let target = root["$defs"]?[name] else { return false }
            return isObject(target, in: root, depth: depth + 1)
        }
        if let members = schema["anyOf"]?.list {
            return !members.isEmpty
                && members.allSatisfy { isObject($0, in: root, depth: depth + 1) }
        }
        return schema["type"]?.string == "object"
    }
}
