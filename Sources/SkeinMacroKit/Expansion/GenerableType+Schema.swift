// generationSchema
extension GenerableType {
    func writeSchema(into writer: inout SourceWriter) {
        let head = "nonisolated \(access)static var generationSchema: \(Library.schema)"
        writer.block(head) { writer in
            switch shape {
            case .record(let properties):
                let generated = properties.filter(\.isGenerated)
                write(list: "properties", generated.map(Self.property), into: &writer)
            case .choice(let choices):
                write(list: "anyOf", choices.map(\.literal), into: &writer)
            case .union(let cases):
                write(list: "cases", cases.map(Self.unionCase), into: &writer)
            }
        }
    }

    /// The schema's initialiser with its last argument, a list.
    private func write(list label: String, _ items: [String], into writer: inout SourceWriter) {
        var arguments = "type: Self.self"
        if let description { arguments += ", description: \(description)" }
        if writesNil, case .record = shape {
            arguments += ", representNilExplicitlyInGeneratedContent: true"
        }
        guard !items.isEmpty else {
            return writer.line("\(Library.schema)(\(arguments), \(label): [])")
        }
        writer.line("\(Library.schema)(\(arguments), \(label): [")
        writer.indented { writer in
            for item in items { writer.line(item + ",") }
        }
        writer.line("])")
    }

    static func property(_ property: GeneratedProperty) -> String {
        var arguments = "name: \(property.literal)"
        if let description = property.description { arguments += ", description: \(description)" }
        arguments += ", type: \(property.source).self"
        if !property.guides.isEmpty {
            arguments += ", guides: [\(property.guides.joined(separator: ", "))]"
        }
        return "\(Library.property)(\(arguments))"
    }

    private static func unionCase(_ element: UnionCase) -> String {
        let properties = element.values.map { property($0.property) }.joined(separator: ", ")
        let values = properties.isEmpty ? "" : ", properties: [\(properties)]"
        return "\(Library.unionCase)(name: \(element.name.literal)\(values))"
    }
}
