/// Finds the names in dynamic schemas.
struct DynamicSchemaCollector {
    private let root: SchemaForm
    private let rootName: String?
    private(set) var forms: [String: SchemaForm] = [:]
    private var references: [String] = []

    init(root: SchemaForm) {
        self.root = root
        if case .named(let definition) = root {
            rootName = definition.name
        } else {
            rootName = nil
        }
    }

    /// - Throws: `SchemaError` for names that are used twice, or lead nowhere.
    mutating func collect(
        _ dependencies: [SchemaForm]
    ) throws(GenerationSchema.SchemaError) {
        var listed: Set<String> = []
        if let rootName { listed.insert(rootName) }
        for form in dependencies {
            guard let name = form.dynamicName else { continue }
            guard listed.insert(name).inserted else {
                throw .duplicateType(
                    schema: rootName, type: name,
                    context: .init(debugDescription: "both are listed"))
            }
            // A type that is listed can be referred to, too.
            if case .named = form {} else { forms[name] = form }
        }
        for form in [root] + dependencies { try visit(form, depth: 0) }
        var missing: [String] = []
        for name in references where forms[name] == nil && !missing.contains(name) {
            missing.append(name)
        }
        guard missing.isEmpty else {
            throw .undefinedReferences(
                schema: rootName, references: missing,
                context: .init(debugDescription: "neither root nor dependencies have these names"))
        }
    }

    private mutating func visit(
        _ form: SchemaForm, depth: Int
    ) throws(GenerationSchema.SchemaError) {
        guard depth < SessionLimits.formDepth else {
            throw .tooLarge(
                schema: rootName ?? "", limit: SessionLimits.formDepth,
                context: .init(debugDescription: "schemas are nested too deep"))
        }
        switch form {
        case .reference(let name): references.append(name)
        case .list(let element, _, _): try visit(element, depth: depth + 1)
        case .named(let definition): try visit(definition, depth: depth)
        default: break
        }
    }

    private mutating func visit(
        _ definition: SchemaDefinition, depth: Int
    ) throws(GenerationSchema.SchemaError) {
        let name = definition.name
        if let known = forms[name] {
            // One value may be used in several places.
            if case .named(let known) = known, known.origin === definition.origin { return }
            // Comparing what two print is slow, and rare.
            guard String(reflecting: known) == String(reflecting: SchemaForm.named(definition))
            else {
                throw .duplicateType(
                    schema: rootName, type: name,
                    context: .init(debugDescription: "they are different"))
            }
            return
        }
        forms[name] = .named(definition)
        try definition.check()
        switch definition.body {
        case .object(let properties):
            for property in properties { try visit(property.form, depth: depth + 1) }
        case .union(let members):
            for member in members { try visit(member, depth: depth + 1) }
        case .choices, .cases: break
        }
    }
}

extension SchemaForm {
    /// The name by which a listed schema can be referred to.
    fileprivate var dynamicName: String? {
        switch self {
        case .named(let definition): definition.name
        case .type(let type): TypeName.of(type)
        case .guided(let form, _): form.dynamicName
        default: nil
        }
    }
}
