import SkeinGrammar
import SkeinJSON

/// Whether every definition of a schema has a value that ends.
///
/// A type whose values must hold a value of the same type has none: no model could ever finish one.
struct SchemaEnds {
    private let definitions: [String: JSONValue]
    /// References in the order in which they are looked at: what is referred to stands later.
    private let order: [String]
    /// References to definitions for which it is known that a value ends.
    private var ending: Set<String> = []

    /// - Parameters:
    ///   - root: the schema.
    ///   - name: of the root.
    ///   - definitions: what `$defs` will have.
    /// - Throws: `SchemaError.endlessRecursion`.
    static func check(
        _ root: JSONValue, named name: String, definitions: [JSONField]
    ) throws(GenerationSchema.SchemaError) {
        var ends = SchemaEnds(root, definitions)
        ends.find()
        let order = [("#", name)] + definitions.map { ("#/$defs/" + $0.name, $0.name) }
        guard let (first, named) = order.first(where: { !ends.ending.contains($0.0) }) else {
            return
        }
        throw .endlessRecursion(
            schema: named, path: ends.path(from: first, named: named),
            context: .init(debugDescription: "no value of it ends"))
    }

    private init(_ root: JSONValue, _ definitions: [JSONField]) {
        order = definitions.reversed().map { "#/$defs/" + $0.name } + ["#"]
        var all = ["#": root]
        for field in definitions { all["#/$defs/" + field.name] = field.value }
        self.definitions = all
    }

    /// The least set of definitions such that a value of each can be made of values of others in it.
    private mutating func find() {
        var isNew = true
        while isNew {
            isNew = false
            for name in order where !ending.contains(name) {
                guard let json = definitions[name], endless(json) == nil else { continue }
                ending.insert(name)
                isNew = true
            }
        }
    }

    /// The first step to a part without an end: a property's name, and the reference there.
    private func endless(_ json: JSONValue) -> (step: String, reference: String)? {
        if let reference = json["$ref"]?.string {
            let isKnown = ending.contains(reference) || definitions[reference] == nil
            return isKnown ? nil : ("", reference)
        }
        if let members = json["anyOf"]?.list {
            var first: (String, String)?
            for member in members {
                guard let found = endless(member) else { return nil }
                first = first ?? found
            }
            return first
        }
        if let items = json["items"], json["minItems"] != nil {
            return endless(items).map { ("[]" + $0.step, $0.reference) }
        }
        guard let properties = json["properties"]?.fields else { return nil }
        let required = Set(json["required"]?.list?.compactMap(\.string) ?? [])
        for property in properties where required.contains(property.name) {
            if let found = endless(property.value) {
                return ("." + property.name + found.step, found.reference)
            }
        }
        return nil
    }

    /// Steps from a definition without an end until one comes for the second time.
    private func path(from start: String, named name: String) -> String {
        var path = name
        var reference = start
        var seen: Set<String> = []
        while seen.insert(reference).inserted, let json = definitions[reference],
            let next = endless(json)
        {
            path += next.step
            reference = next.reference
        }
        return path
    }
}
