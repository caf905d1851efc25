import Foundation
import SkeinGrammar

/// A schema in its coded form, which is JSON Schema.
enum SchemaText {
    /// The coded form, with sorted keys: equal for equal schemas.
    ///
    /// - Throws: what the schema throws.
    static func coded(_ schema: GenerationSchema) throws -> JSONText {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try JSONTextReader.read(Array(encoder.encode(schema)))
    }

    /// The schema of a coded form.
    ///
    /// - Throws: what the schema throws.
    static func schema(_ coded: JSONText) throws -> GenerationSchema {
        try JSONDecoder().decode(GenerationSchema.self, from: Data(coded.written.utf8))
    }

    static func areEqual(_ one: GenerationSchema, _ other: GenerationSchema) -> Bool {
        guard let first = try? coded(one), let second = try? coded(other) else { return false }
        return first.written == second.written
    }

    /// The name of a schema: its `title`.
    static func title(of schema: GenerationSchema) -> String? {
        (try? coded(schema))?["title"]?.string
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
        let root = try coded(schema)
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
