import SkeinGrammar
import SkeinJSON

/// What values a schema allows, before types are asked for their schemas and names are given.
indirect enum SchemaForm: Sendable {
    /// Any JSON value.
    case anything
    /// No value.
    case nothing
    case null
    case boolean
    case text
    case number(NumberType)
    case list(of: SchemaForm, least: Int? = nil, most: Int? = nil)
    /// What a type's schema allows. It is asked for it when the schema is used, so types may lead
    /// back to themselves.
    case type(any Generable.Type)
    /// The values that satisfy guides.
    case guided(SchemaForm, [GuideRule])
    case named(SchemaDefinition)
    /// A dynamic schema that is listed elsewhere.
    case reference(String)
    /// A dynamic schema with all that it may refer to.
    case dynamic(SchemaForm, DynamicSchemas)
    /// A schema that was read as JSON.
    case document(JSONValue)

    /// Types of numbers.
    enum NumberType: Sendable {
        case integer
        case float
        case double
        case decimal
    }
}

/// Something that has a name, and stands in `$defs`.
struct SchemaDefinition: Sendable {
    /// The Swift type; nil: a dynamic schema, which its name tells apart.
    var type: ObjectIdentifier?
    var name: String
    var description: String?
    var body: Body
    /// The same in all copies.
    private(set) var origin = Origin()

    final class Origin: Sendable {}

    enum Body: Sendable {
        case object([PropertyForm])
        /// An enum whose cases have no values.
        case choices([String])
        /// An enum with values.
        case cases([CaseForm])
        case union([SchemaForm])
    }

    struct PropertyForm: Sendable {
        var name: String
        var description: String?
        var form: SchemaForm
        /// Whether the property may be left out.
        var isOptional = false
        /// Whether it may be null instead of being left out.
        var isNullable = false

        /// The same property; null takes the place of leaving it out.
        func representingNil(_ isExplicit: Bool) -> PropertyForm {
            var form = self
            form.isNullable = isOptional && isExplicit
            form.isOptional = isOptional && !isExplicit
            return form
        }
    }

    struct CaseForm: Sendable {
        var name: String
        var description: String?
        var properties: [PropertyForm]
    }
}

/// The dynamic schemas of one schema that may be referred to, by name.
final class DynamicSchemas: Sendable {
    let forms: [String: SchemaForm]

    init(_ forms: [String: SchemaForm]) {
        self.forms = forms
    }
}

extension SchemaForm {
    /// The name of what it allows.
    var name: String {
        switch self {
        case .anything: "GeneratedContent"
        case .nothing: "Never"
        case .null: "null"
        case .boolean: "Bool"
        case .text: "String"
        case .number(.integer): "Int"
        case .number(.float): "Float"
        case .number(.double): "Double"
        case .number(.decimal): "Decimal"
        case .list: "Array"
        case .type(let type): TypeName.of(type)
        case .guided(let form, _), .dynamic(let form, _): form.name
        case .named(let definition): definition.name
        case .reference(let name): name
        case .document(let json): json["title"]?.string ?? "Schema"
        }
    }
}

extension SchemaDefinition {
    /// Whether the definition contradicts itself.
    ///
    /// - Throws: `SchemaError.duplicateProperty`, `.duplicateType`, `.emptyTypeChoices`.
    func check() throws(GenerationSchema.SchemaError) {
        switch body {
        case .object(let properties): try checkNames(properties.map(\.name))
        case .choices(let choices): try checkChoices(choices.count)
        case .union(let members): try checkChoices(members.count)
        case .cases(let cases):
            try checkChoices(cases.count)
            var names: Set<String> = []
            for one in cases {
                guard names.insert(one.name).inserted else {
                    throw .duplicateType(
                        schema: name, type: one.name,
                        context: .init(debugDescription: "both are cases of the enum"))
                }
                try checkNames(["type"] + one.properties.map(\.name))
            }
        }
    }

    private func checkChoices(_ count: Int) throws(GenerationSchema.SchemaError) {
        guard count > 0 else {
            throw .emptyTypeChoices(
                schema: name, context: .init(debugDescription: "no value satisfies it"))
        }
    }

    private func checkNames(_ names: [String]) throws(GenerationSchema.SchemaError) {
        var known: Set<String> = []
        for property in names {
            guard known.insert(property).inserted else {
                throw .duplicateProperty(
                    schema: name, property: property,
                    context: .init(debugDescription: "an object has one property of a name"))
            }
        }
    }
}
