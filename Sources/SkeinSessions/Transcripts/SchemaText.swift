import SkeinGrammar
import SkeinJSON

/// A schema in its coded form, which is JSON Schema.
enum SchemaText {
    /// The coded form, with `x-order`.
    ///
    /// - Throws: `GenerationSchema.SchemaError`.
    static func coded(_ schema: GenerationSchema) throws -> JSONValue {
        CodedSchema.withOrder(try schema.json())
    }

    /// The schema of a coded form; nil if that is no object.
    static func schema(_ coded: JSONValue) -> GenerationSchema? {
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
        var known: [String: Bool] = [:]
        return isObject(root, in: root, depth: 0, known: &known) ? .object : .other
    }

    // `known`: what each reference leads to, so that none is followed twice.
    private static func isObject(
        _ schema: JSONValue, in root: JSONValue, depth: Int, known: inout [String: Bool]
    ) -> Bool {
        guard depth < 64 else { return false }
        if let reference = schema["$ref"]?.string {
            if let answer = known[reference] { return answer }
            // References that lead in a circle without a value between have no values at all.
            known[reference] = false
            guard let target = target(of: reference, in: root) else { return false }
            let answer = isObject(target, in: root, depth: depth + 1, known: &known)
            known[reference] = answer
            return answer
        }
        if let members = schema["anyOf"]?.list {
            return !members.isEmpty
                && members.allSatisfy {
                    isObject($0, in: root, depth: depth + 1, known: &known)
                }
        }
        return schema["type"]?.string == "object"
    }

    private static func target(of reference: String, in root: JSONValue) -> JSONValue? {
        if reference == "#" { return root }
        let prefix = "#/$defs/"
        guard reference.hasPrefix(prefix) else { return nil }
        let name = String(reference.dropFirst(prefix.count)).replacing("~1", with: "/")
            .replacing("~0", with: "~")
        return root["$defs"]?[name]
    }
}
