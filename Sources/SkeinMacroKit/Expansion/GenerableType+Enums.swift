// The content of enums.
extension GenerableType {
    // MARK: Without values: a text

    func writeContent(of choices: [Choice], into writer: inout SourceWriter) {
        writer.line("switch self {")
        for choice in choices {
            writer.line(
                "case .\(choice.name.written): return \(Library.content)(\(choice.literal))")
        }
        writer.line("}")
    }

    func writeInit(of choices: [Choice], into writer: inout SourceWriter) {
        // No type is named here: a case may be called as its module is.
        writer.line("switch try content.choiceName() {")
        for choice in choices {
            writer.line("case \(choice.literal): self = .\(choice.name.written)")
        }
        writeDefault(into: &writer)
    }

    private func writeDefault(into writer: inout SourceWriter) {
        writer.line("default: throw content.unknownCase(of: Self.self)")
        writer.line("}")
    }

    // MARK: With values: an object whose first property is the case's name

    func writeContent(of cases: [UnionCase], into writer: inout SourceWriter) {
        writer.line("var writer = \(Library.writer)()")
        writer.line("switch self {")
        for element in cases {
            let places = element.values.indices
            let binding = places.map { "let value\($0)" }.joined(separator: ", ")
            let pattern = ".\(element.name.written)\(places.isEmpty ? "" : "(\(binding))")"
            writer.line("case \(pattern):")
            writer.indented { writer in
                writer.line("writer.write(\"type\", \(element.name.literal))")
                for (place, value) in element.values.enumerated() {
                    writer.line("writer.write(\(value.property.literal), value\(place))")
                }
            }
        }
        writer.line("}")
        writer.line("return writer.content")
    }

    func writeInit(of cases: [UnionCase], into writer: inout SourceWriter) {
        writer.line("switch try content.caseName() {")
        for element in cases {
            let arguments = element.values.map { value in
                let label = value.label.map { "\($0.label): " } ?? ""
                return "\(label)try content.value(forProperty: \(value.property.literal))"
            }
            let values = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
            writer.line("case \(element.name.literal): self = .\(element.name.written)\(values)")
        }
        writeDefault(into: &writer)
    }
}
