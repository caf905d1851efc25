import SkeinGrammar
import SkeinJSON

/// Writes a schema as JSON (JSON Schema, draft 2020-12): asks types for their schemas, each once, and
/// gives names to what is referred to.
///
/// Names depend on the order of first appearance alone: of two types of one name, the second is
/// `Name2`.
struct SchemaResolver {
    typealias SchemaError = GenerationSchema.SchemaError

    /// What makes two definitions the same.
    private enum Key: Hashable {
        case type(ObjectIdentifier)
        case dynamic(ObjectIdentifier?, String)
        case document(String)
    }

    /// A definition, and the dynamic schemas that it may refer to.
    struct Pending {
        var definition: SchemaDefinition
        var scope: DynamicSchemas?
    }

    /// Where in a schema something stands.
    struct Place {
        /// Name of the definition.
        var schema: String
        /// Path of properties inside of it.
        var path = ""
        /// Parts around it.
        var depth = 0

        func inside(_ step: String) -> Place {
            let isIndex = step == "[]"
            return Place(
                schema: schema, path: path.isEmpty || isIndex ? path + step : "\(path).\(step)",
                depth: depth + 1)
        }
    }

    /// What types have answered.
    private var forms: [ObjectIdentifier: SchemaForm] = [:]
    private var references: [Key: String] = [:]
    private var names: Set<String> = []
    /// Definitions that have a name, and are not written yet.
    private var pending: [(name: String, value: Pending)] = []
    private var definitions: [JSONField] = []

    private init() {}

    /// - Throws: `SchemaError` if the schema contradicts itself.
    static func json(of form: SchemaForm) throws(SchemaError) -> JSONValue {
        var resolver = SchemaResolver()
        return try resolver.document(form)
    }

    private mutating func document(_ form: SchemaForm) throws(SchemaError) -> JSONValue {
        var fields: [JSONField]
        let (root, scope) = try base(form, nil, Place(schema: form.name))
        switch root {
        case .document(let json): return json
        case .named(let definition):
            references[key(definition, scope)] = "#"
            names.insert(Self.plainName(definition.name))
            fields = [JSONField("title", .text(definition.name))]
            fields += try body(Pending(definition: definition, scope: scope))
        default:
            fields = try self.fields(root, scope, Place(schema: form.name))
        }
        var next = 0
        while next < pending.count {
            let (name, value) = pending[next]
            next += 1
            let title = value.definition.name
            let own = name == title ? [] : [JSONField("title", .text(title))]
            let json = JSONValue.object(own + (try body(value)))
            definitions.append(JSONField(name, json))
        }
        try SchemaEnds.check(
            JSONValue.object(fields), named: form.name, definitions: definitions)
        if !definitions.isEmpty { fields.append(JSONField("$defs", .object(definitions))) }
        return .object(fields)
    }

    /// What a form stands for, once types are asked and references followed.
    private mutating func base(
        _ form: SchemaForm, _ scope: DynamicSchemas?, _ place: Place
    ) throws(SchemaError) -> (form: SchemaForm, scope: DynamicSchemas?) {
        var (form, scope) = (form, scope)
        for _ in 0..<SessionLimits.formDepth {
            switch form {
            case .type(let type): (form, scope) = (try asked(type, place), nil)
            case .dynamic(let inner, let own): (form, scope) = (inner, own)
            case .reference(let name):
                guard let found = scope?.forms[name] else {
                    throw .undefinedReferences(
                        schema: place.schema, references: [name],
                        context: .init(debugDescription: "it leads nowhere"))
                }
                form = found
            case .guided(let inner, let rules):
                guard case .guided(let second, let more) = inner else { return (form, scope) }
                form = .guided(second, rules + more)
            default: return (form, scope)
            }
        }
        throw Self.tooDeep(place)
    }

    /// The form of a type's schema, for which it is asked once.
    private mutating func asked(
        _ type: any Generable.Type, _ place: Place
    ) throws(SchemaError) -> SchemaForm {
        let key = ObjectIdentifier(type)
        if let known = forms[key] { return known }
        // Generic types may lead to ever new ones, whose names get longer and longer.
        guard TypeName.of(type).utf8.count <= SessionLimits.nameBytes else {
            throw .tooLarge(
                schema: place.schema, limit: SessionLimits.nameBytes,
                context: .init(debugDescription: "the name of a type is too long"))
        }
        guard forms.count < SessionLimits.definitions else {
            throw .tooLarge(
                schema: place.schema, limit: SessionLimits.definitions,
                context: .init(debugDescription: "there are too many types"))
        }
        let form = type.generationSchema.form
        forms[key] = form
        return form
    }

    private static func tooDeep(_ place: Place) -> SchemaError {
        .tooLarge(
            schema: place.schema, limit: SessionLimits.formDepth,
            context: .init(debugDescription: "schemas are nested too deep"))
    }

    /// A form as a schema without its braces.
    mutating func fields(
        _ form: SchemaForm, _ scope: DynamicSchemas?, _ place: Place
    ) throws(SchemaError) -> [JSONField] {
        guard place.depth < SessionLimits.formDepth else { throw Self.tooDeep(place) }
        let (form, scope) = try base(form, scope, place)
        switch form {
        case .anything: return []
        case .nothing: return [JSONField("enum", .list([]))]
        case .null: return [JSONField("type", .text("null"))]
        case .boolean: return [JSONField("type", .text("boolean"))]
        case .text, .number, .list: return try guided(form, [], scope, place)
        case .guided(let inner, let rules): return try guided(inner, rules, scope, place)
        case .named(let definition):
            return [JSONField("$ref", .text(try reference(definition, scope)))]
        case .document(let json): return try embedded(json, place)
        case .type, .reference, .dynamic: return []
        }
    }

    private mutating func guided(
        _ form: SchemaForm, _ rules: [GuideRule], _ scope: DynamicSchemas?, _ place: Place
    ) throws(SchemaError) -> [JSONField] {
        let (form, scope) = try base(form, scope, place)
        switch form {
        case .text: return try GuidedValues.text(rules, place)
        case .number(let type): return try GuidedValues.number(type, rules, place)
        case .guided(let inner, let more):
            // A type whose own schema has guides.
            guard place.depth < SessionLimits.formDepth else { throw Self.tooDeep(place) }
            var deeper = place
            deeper.depth += 1
            return try guided(inner, rules + more, scope, deeper)
        case .list(let element, let least, let most):
            let list = try GuidedValues.list(least, most, rules, place)
            let inner = list.elementRules.isEmpty ? element : .guided(element, list.elementRules)
            let items = try fields(inner, scope, place.inside("[]"))
            return [
                JSONField("type", .text("array")), JSONField("items", .object(items)),
            ] + list.counts
        default:
            guard rules.isEmpty else {
                throw GuidedValues.invalid(place, "it is not for values of this type")
            }
            return try fields(form, scope, place)
        }
    }
}

/// Names.
extension SchemaResolver {
    private func key(_ definition: SchemaDefinition, _ scope: DynamicSchemas?) -> Key {
        if let type = definition.type { return .type(type) }
        return .dynamic(scope.map { ObjectIdentifier($0) }, definition.name)
    }

    /// What `$ref` says for a definition, which gets a name when it first appears.
    private mutating func reference(
        _ definition: SchemaDefinition, _ scope: DynamicSchemas?
    ) throws(SchemaError) -> String {
        let key = key(definition, scope)
        if let known = references[key] { return known }
        let name = try newName(definition.name)
        references[key] = "#/$defs/" + name
        pending.append((name, Pending(definition: definition, scope: scope)))
        return "#/$defs/" + name
    }

    private mutating func newName(_ wanted: String) throws(SchemaError) -> String {
        guard names.count < SessionLimits.definitions else {
            throw .tooLarge(
                schema: wanted, limit: SessionLimits.definitions,
                context: .init(debugDescription: "there are too many types"))
        }
        let plain = Self.plainName(wanted)
        var name = plain
        var number = 2
        while !names.insert(name).inserted {
            name = plain + String(number)
            number += 1
        }
        return name
    }

    /// A name that stands in a reference as it is.
    private static func plainName(_ name: String) -> String {
        let plain = name.unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": Character(scalar)
            default: "_"
            }
        }
        return plain.isEmpty ? "_" : String(plain.prefix(100))
    }

    /// A schema that was read as JSON, inside of another one: it becomes a definition, and what it
    /// refers to is looked for there.
    private mutating func embedded(
        _ json: JSONValue, _ place: Place
    ) throws(SchemaError) -> [JSONField] {
        let key = Key.document(json.written)
        if let known = references[key] { return [JSONField("$ref", .text(known))] }
        let name = try newName(SchemaForm.document(json).name)
        references[key] = "#/$defs/" + name
        definitions.append(JSONField(name, json.referring(to: "#/$defs/" + name)))
        return [JSONField("$ref", .text("#/$defs/" + name))]
    }
}

extension JSONValue {
    /// The schema with references from another root.
    fileprivate func referring(to root: String) -> JSONValue {
        switch self {
        case .list(let items): return .list(items.map { $0.referring(to: root) })
        case .object(let fields):
            return .object(
                fields.map { field in
                    guard field.name == "$ref", let old = field.value.string,
                        old == "#" || old.hasPrefix("#/")
                    else { return JSONField(field.name, field.value.referring(to: root)) }
                    return JSONField(field.name, .text(root + old.dropFirst()))
                })
        default: return self
        }
    }
}

extension JSONField {
    init(_ name: String, _ value: JSONValue) {
        self.init(name: name, value: value)
    }
}
