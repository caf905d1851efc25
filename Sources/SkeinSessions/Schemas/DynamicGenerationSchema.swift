/// A schema that is made at run time, from parts that may refer to each other by name.
///
/// ```swift
/// let dish = DynamicGenerationSchema(name: "Dish", anyOf: menu.dishes)
/// let order = DynamicGenerationSchema(
///     name: "Order",
///     properties: [
///         DynamicGenerationSchema.Property(
///             name: "dishes", schema: DynamicGenerationSchema(arrayOf: dish, minimumElements: 1)),
///         DynamicGenerationSchema.Property(
///             name: "note", schema: DynamicGenerationSchema(type: String.self), isOptional: true),
///     ])
/// let schema = try GenerationSchema(root: order, dependencies: [])
/// ```
public struct DynamicGenerationSchema: Sendable {
    let form: SchemaForm

    private init(_ form: SchemaForm) {
        self.form = form
    }

    private init(_ name: String, _ description: String?, _ body: SchemaDefinition.Body) {
        form = .named(SchemaDefinition(name: name, description: description, body: body))
    }

    /// A structure.
    ///
    /// - Parameters:
    ///   - name: by which other parts may refer to it.
    ///   - description: what it is, for the model.
    ///   - properties: in the order in which the model writes them.
    public init(name: String, description: String? = nil, properties: [Property]) {
        self.init(name, description, .object(properties.map(\.form)))
    }

    /// A structure.
    ///
    /// - Parameters:
    ///   - name: by which other parts may refer to it.
    ///   - description: what it is, for the model.
    ///   - representNilExplicitlyInGeneratedContent: whether the model writes null for an optional
    ///     property without a value, instead of leaving it out.
    ///   - properties: in the order in which the model writes them.
    public init(
        name: String, description: String? = nil,
        representNilExplicitlyInGeneratedContent: Bool, properties: [Property]
    ) {
        let isExplicit = representNilExplicitlyInGeneratedContent
        self.init(
            name, description, .object(properties.map { $0.form.representingNil(isExplicit) }))
    }

    /// One of several schemas.
    ///
    /// - Parameters:
    ///   - name: by which other parts may refer to it.
    ///   - description: what it is, for the model.
    ///   - choices: of which a value satisfies one.
    public init(
        name: String, description: String? = nil, anyOf choices: [DynamicGenerationSchema]
    ) {
        self.init(name, description, .union(choices.map(\.form)))
    }

    /// One of several texts.
    ///
    /// - Parameters:
    ///   - name: by which other parts may refer to it.
    ///   - description: what it is, for the model.
    ///   - choices: the texts.
    public init(name: String, description: String? = nil, anyOf choices: [String]) {
        self.init(name, description, .choices(choices))
    }

    /// An array.
    ///
    /// - Parameters:
    ///   - itemSchema: of each element.
    ///   - minimumElements: the least number of elements; nil: none.
    ///   - maximumElements: the largest number of elements; nil: any.
    public init(
        arrayOf itemSchema: DynamicGenerationSchema, minimumElements: Int? = nil,
        maximumElements: Int? = nil
    ) {
        form = .list(of: itemSchema.form, least: minimumElements, most: maximumElements)
    }

    /// The schema of a type.
    ///
    /// - Parameters:
    ///   - type: of the values.
    ///   - guides: what a value must be beyond its type.
    public init<Value: Generable>(type: Value.Type, guides: [GenerationGuide<Value>] = []) {
        form = guides.isEmpty ? .type(type) : .guided(.type(type), guides.flatMap(\.rules))
    }

    /// The schema of that name: the root, one of the dependencies, or a named part of these.
    public init(referenceTo name: String) {
        form = .reference(name)
    }

    /// Null and nothing else. Together with another schema in `anyOf` it is a value that may be null.
    public static var null: DynamicGenerationSchema { DynamicGenerationSchema(.null) }

    /// A property of a structure.
    public struct Property: Sendable {
        let form: SchemaDefinition.PropertyForm

        /// A property.
        ///
        /// - Parameters:
        ///   - name: the key.
        ///   - description: what it is, for the model.
        ///   - schema: of its value.
        ///   - isOptional: whether it may be left out.
        public init(
            name: String, description: String? = nil, schema: DynamicGenerationSchema,
            isOptional: Bool = false
        ) {
            form = SchemaDefinition.PropertyForm(
                name: name, description: description, form: schema.form, isOptional: isOptional)
        }
    }
}

extension GenerationSchema {
    /// A schema that is made at run time.
    ///
    /// - Parameters:
    ///   - root: of the whole value.
    ///   - dependencies: schemas that the root, or one of them, refers to by name.
    /// - Throws: `SchemaError` if names are used twice, or lead nowhere, or nothing satisfies a part.
    public init(
        root: DynamicGenerationSchema, dependencies: [DynamicGenerationSchema]
    ) throws {
        var collector = DynamicSchemaCollector(root: root.form)
        try collector.collect(dependencies.map(\.form))
        self.init(.dynamic(root.form, DynamicSchemas(collector.forms)))
        try resolved()
    }
}
