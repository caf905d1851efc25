import SkeinGrammar
import SkeinJSON

/// Definitions: structs, enums and unions.
extension SchemaResolver {
    mutating func body(_ pending: Pending) throws(SchemaError) -> [JSONField] {
        let definition = pending.definition
        try definition.check()
        let scope = pending.scope
        let place = Place(schema: definition.name)
        var fields: [JSONField] = []
        if let description = definition.description {
            fields.append(JSONField("description", .text(description)))
        }
        switch definition.body {
        case .object(let properties): fields += try object(properties, scope, place)
        case .choices(let choices):
            fields += try GuidedValues.text([.choices(choices)], place)
        case .cases(let cases):
            var members: [JSONValue] = []
            for one in cases {
                var member: [JSONField] = []
                if let description = one.description {
                    member.append(JSONField("description", .text(description)))
                }
                let name = JSONValue.object([JSONField("const", .text(one.name))])
                member += try object(
                    one.properties, scope, place.inside(one.name),
                    first: JSONField("type", name))
                members.append(.object(member))
            }
            fields.append(JSONField("anyOf", .list(members)))
        case .union(let forms):
            var members: [JSONValue] = []
            for form in forms {
                members.append(.object(try self.fields(form, scope, place.inside("anyOf"))))
            }
            fields.append(JSONField("anyOf", .list(members)))
        }
        return fields
    }

    private mutating func object(
        _ properties: [SchemaDefinition.PropertyForm], _ scope: DynamicSchemas?, _ place: Place,
        first: JSONField? = nil
    ) throws(SchemaError) -> [JSONField] {
        var fields = first.map { [$0] } ?? []
        var required = first.map { [JSONValue.text($0.name)] } ?? []
        for property in properties {
            var value: [JSONField] = []
            if let description = property.description {
                value.append(JSONField("description", .text(description)))
            }
            let own = try self.fields(property.form, scope, place.inside(property.name))
            if property.isNullable {
                let null = JSONValue.object([JSONField("type", .text("null"))])
                value.append(JSONField("anyOf", .list([.object(own), null])))
            } else {
                value += own
            }
            fields.append(JSONField(property.name, .object(value)))
            if !property.isOptional { required.append(.text(property.name)) }
        }
        return [
            JSONField("type", .text("object")), JSONField("properties", .object(fields)),
        ] + (required.isEmpty ? [] : [JSONField("required", .list(required))]) + [
            JSONField("additionalProperties", .bool(false))
        ]
    }
}
