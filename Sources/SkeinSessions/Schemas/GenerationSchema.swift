import SkeinGrammar
import SkeinJSON
import Synchronization

/// What values a model may write: the type of a `Generable`, or one that is made at run time.
///
/// A schema of a type asks the types of its properties for their schemas when it is first used, so
/// types may lead back to themselves, and mistakes are told then.
public struct GenerationSchema: Sendable {
    let form: SchemaForm
    private let resolution = Resolution()

    init(_ form: SchemaForm) {
        self.form = form
    }

    /// What came of resolving a schema, found once and shared by its copies.
    private final class Resolution: Sendable {
        let result = Mutex<Result<JSONValue, SchemaError>?>(nil)
    }

    /// The schema as JSON: `$defs` has what is referred to, properties stand in their order.
    ///
    /// Types are asked outside of the lock, as they may use this very schema. If two threads do so at
    /// once, the first result counts.
    func json() throws(SchemaError) -> JSONValue {
        let known = resolution.result.withLock { $0 }
        if let known { return try known.get() }
        let found: Result<JSONValue, SchemaError>
        do {
            found = .success(try SchemaResolver.json(of: form))
        } catch {
            found = .failure(error)
        }
        return try resolution.result.withLock { result in
            if result == nil { result = found }
            return result ?? found
        }.get()
    }

    /// The schema as JSON text without spaces, for a grammar and for the model.
    ///
    /// - Throws: `SchemaError` if it contradicts itself.
    package func jsonText() throws(SchemaError) -> String { try json().written }

    /// Finds the schemas of all types that this one leads to.
    ///
    /// - Throws: `SchemaError` if it contradicts itself.
    package func resolved() throws(SchemaError) { _ = try json() }

    /// The schema of a struct.
    ///
    /// - Parameters:
    ///   - type: the struct.
    ///   - description: what it is, for the model.
    ///   - properties: in the order in which the model writes them.
    public init(
        type: any Generable.Type, description: String? = nil, properties: [Property]
    ) {
        self.init(
            type: type, description: description, representNilExplicitlyInGeneratedContent: false,
            properties: properties)
    }

    /// The schema of a struct.
    ///
    /// - Parameters:
    ///   - type: the struct.
    ///   - description: what it is, for the model.
    ///   - representNilExplicitlyInGeneratedContent: whether the model writes null for an optional
    ///     property without a value, instead of leaving it out.
    ///   - properties: in the order in which the model writes them.
    public init(
        type: any Generable.Type, description: String? = nil,
        representNilExplicitlyInGeneratedContent: Bool, properties: [Property]
    ) {
        let isExplicit = representNilExplicitlyInGeneratedContent
        self.init(
            type, description, .object(properties.map { $0.form.representingNil(isExplicit) }))
    }

    /// The schema of an enum whose cases have no values.
    ///
    /// - Parameters:
    ///   - type: the enum.
    ///   - description: what it is, for the model.
    ///   - choices: the texts of its cases.
    public init(type: any Generable.Type, description: String? = nil, anyOf choices: [String]) {
        self.init(type, description, .choices(choices))
    }

    /// The schema of a type whose values are those of one of several types.
    ///
    /// - Parameters:
    ///   - type: the type.
    ///   - description: what it is, for the model.
    ///   - types: of which one is written.
    public init(
        type: any Generable.Type, description: String? = nil, anyOf types: [any Generable.Type]
    ) {
        self.init(type, description, .union(types.map(SchemaForm.type)))
    }

    /// The schema of an enum whose cases have values: an object whose first property, `type`, is the
    /// case's name.
    ///
    /// - Parameters:
    ///   - type: the enum.
    ///   - description: what it is, for the model.
    ///   - cases: its cases.
    public init(type: any Generable.Type, description: String? = nil, cases: [Case]) {
        self.init(type, description, .cases(cases.map(\.form)))
    }

    private init(
        _ type: any Generable.Type, _ description: String?, _ body: SchemaDefinition.Body
    ) {
        self.init(
            .named(
                SchemaDefinition(
                    type: ObjectIdentifier(type), name: TypeName.of(type),
                    description: description, body: body)))
    }
}

extension GenerationSchema {
    /// A property of a struct, or a value of an enum's case.
    public struct Property: Sendable {
        let form: SchemaDefinition.PropertyForm

        private init(
            _ name: String, _ description: String?, _ type: any Generable.Type,
            _ rules: [GuideRule], isOptional: Bool
        ) {
            form = SchemaDefinition.PropertyForm(
                name: name, description: description,
                form: rules.isEmpty ? .type(type) : .guided(.type(type), rules),
                isOptional: isOptional)
        }

        /// A property that always has a value.
        ///
        /// - Parameters:
        ///   - name: the key.
        ///   - description: what it is, for the model.
        ///   - type: of its value.
        ///   - guides: what the value must be beyond its type.
        public init<Value: Generable>(
            name: String, description: String? = nil, type: Value.Type,
            guides: [GenerationGuide<Value>] = []
        ) {
            self.init(name, description, type, guides.flatMap(\.rules), isOptional: false)
        }

        /// A property that may be nil.
        ///
        /// - Parameters:
        ///   - name: the key.
        ///   - description: what it is, for the model.
        ///   - type: of its value.
        ///   - guides: what a value that is not nil must be beyond its type.
        public init<Value: Generable>(
            name: String, description: String? = nil, type: Value?.Type,
            guides: [GenerationGuide<Value>] = []
        ) {
            self.init(name, description, Value.self, guides.flatMap(\.rules), isOptional: true)
        }

        /// A text that matches regular expressions.
        ///
        /// - Parameters:
        ///   - name: the key.
        ///   - description: what it is, for the model.
        ///   - type: String.
        ///   - guides: that the text matches as a whole.
        public init<Output>(
            name: String, description: String? = nil, type: String.Type, guides: [Regex<Output>]
        ) {
            self.init(
                name, description, type, guides.map { GuideRule($0) }, isOptional: false)
        }

        /// A text that matches regular expressions, or is nil.
        ///
        /// - Parameters:
        ///   - name: the key.
        ///   - description: what it is, for the model.
        ///   - type: String?.
        ///   - guides: that a text matches as a whole.
        public init<Output>(
            name: String, description: String? = nil, type: String?.Type, guides: [Regex<Output>]
        ) {
            self.init(
                name, description, String.self, guides.map { GuideRule($0) }, isOptional: true)
        }
    }

    /// A case of an enum with values.
    public struct Case: Sendable {
        let form: SchemaDefinition.CaseForm

        /// A case.
        ///
        /// - Parameters:
        ///   - name: of the case.
        ///   - description: what it is, for the model.
        ///   - properties: its values, by their labels; none: a case without values.
        public init(name: String, description: String? = nil, properties: [Property] = []) {
            form = SchemaDefinition.CaseForm(
                name: name, description: description, properties: properties.map(\.form))
        }
    }
}
