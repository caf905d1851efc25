// The content of structs and actors.
extension GenerableType {
    func writeContent(of properties: [GeneratedProperty], into writer: inout SourceWriter) {
        let generated = properties.filter(\.isGenerated)
        writer.line("\(generated.isEmpty ? "let" : "var") writer = \(Library.writer)()")
        for property in generated {
            writer.line("writer.write(\(property.literal), \(value(of: property)))")
        }
        guard let id = properties.first(where: \.isID) else {
            return writer.line("return writer.content")
        }
        writer.line("var content = writer.content")
        writer.line("content.id = self.\(id.name.written)")
        writer.line("return content")
    }

    private func value(of property: GeneratedProperty) -> String {
        let name = "self.\(property.name.written)"
        guard writesNil, property.isOptional else { return name }
        return "\(name)?.generatedContent ?? \(Library.content)(kind: .null)"
    }

    func writeInit(of properties: [GeneratedProperty], into writer: inout SourceWriter) {
        for property in properties {
            let name = "self.\(property.name.written)"
            if property.isID {
                let id = property.isOptional ? "" : " ?? \(Library.id)()"
                writer.line("\(name) = content.id\(id)")
            } else {
                writer.line("\(name) = try content.value(forProperty: \(property.literal))")
            }
        }
    }

    // MARK: PartiallyGenerated

    /// The partial type and the function that makes one of a whole value.
    func writePartial(_ properties: [GeneratedProperty], into writer: inout SourceWriter) {
        writer.block("nonisolated \(access)func asPartiallyGenerated() -> PartiallyGenerated") {
            $0.line("PartiallyGenerated(whole: self)")
        }
        let own = properties.first { $0.name.plain == "id" }
        let isIdentifiable = own.map { $0.isID && !$0.isOptional } ?? true
        var protocols = [Library.fromContent]
        if isIdentifiable { protocols.insert("Swift.Identifiable", at: 0) }
        // Types that are not public are Sendable without a word, if their properties are.
        if let sendability, !access.isEmpty { protocols.append(sendability) }
        let conformances = protocols.joined(separator: ", ")
        writer.block("nonisolated \(access)struct PartiallyGenerated: \(conformances)") { writer in
            if own == nil { writer.line("\(access)var id: \(Library.id)") }
            for property in properties { writer.line(declaration(of: property)) }
            writer.block("\(access)init(_ content: \(Library.content)) throws") { writer in
                if own == nil { writer.line("self.id = content.id ?? \(Library.id)()") }
                writeInit(of: properties, into: &writer)
            }
            writer.block("fileprivate init(whole: \(name.written))") { writer in
                writeWhole(properties, hasOwnID: own != nil, into: &writer)
            }
        }
    }

    private func declaration(of property: GeneratedProperty) -> String {
        let isIdentity = property.isID && property.name.plain == "id"
        let access = isIdentity ? access : property.access
        let type = property.isID ? property.source : "\(property.type).PartiallyGenerated?"
        return "\(access)var \(property.name.written): \(type)"
    }

    private func writeWhole(
        _ properties: [GeneratedProperty], hasOwnID: Bool, into writer: inout SourceWriter
    ) {
        if !hasOwnID {
            // An identity of another name is the content's as well.
            let other = properties.first { $0.isID && !$0.isOptional }
            let id = other.map { "whole.\($0.name.written)" } ?? "\(Library.id)()"
            writer.line("self.id = \(id)")
        }
        for property in properties {
            let name = property.name.written
            let mark = property.isOptional ? "?" : ""
            let value = property.isID ? "" : "\(mark).asPartiallyGenerated()"
            writer.line("self.\(name) = whole.\(name)\(value)")
        }
    }
}
