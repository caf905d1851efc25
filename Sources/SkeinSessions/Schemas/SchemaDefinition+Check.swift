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
