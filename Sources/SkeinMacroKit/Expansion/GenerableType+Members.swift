extension GenerableType {
    /// What the attribute adds to the type's body.
    var members: String {
        var writer = SourceWriter()
        writeSchema(into: &writer)
        writeContent(into: &writer)
        if case .record(let properties) = shape {
            writePartial(properties, into: &writer)
            // An actor's extension cannot have this initialiser.
            if isActor { writeInit(into: &writer) }
        }
        return writer.source
    }

    /// The extension that makes the type generable.
    ///
    /// - Parameters:
    ///   - type: the type's name outside of everything.
    ///   - addsProtocol: false if the type conforms by its declaration.
    /// - Returns: its source.
    func conformance(of type: String, addsProtocol: Bool) -> String {
        guard addsProtocol || !isActor else { return "" }
        var writer = SourceWriter()
        let conformance = addsProtocol ? ": \(Library.generable)" : ""
        writer.block("nonisolated extension \(type)\(conformance)") { writer in
            if !isActor { writeInit(into: &writer) }
        }
        return writer.source
    }

    private func writeContent(into writer: inout SourceWriter) {
        writer.block("nonisolated \(access)var generatedContent: \(Library.content)") { writer in
            switch shape {
            case .record(let properties): writeContent(of: properties, into: &writer)
            case .choice(let choices): writeContent(of: choices, into: &writer)
            case .union(let cases): writeContent(of: cases, into: &writer)
            }
        }
    }

    private func writeInit(into writer: inout SourceWriter) {
        // An actor's initialiser is nonisolated without a word, and must not say so.
        let isolation = isActor ? "" : "nonisolated "
        writer.block("\(isolation)\(access)init(_ content: \(Library.content)) throws") { writer in
            switch shape {
            case .record(let properties): writeInit(of: properties, into: &writer)
            case .choice(let choices): writeInit(of: choices, into: &writer)
            case .union(let cases): writeInit(of: cases, into: &writer)
            }
        }
    }
}
