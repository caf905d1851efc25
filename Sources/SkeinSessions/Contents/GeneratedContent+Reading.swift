extension GeneratedContent {
    /// The content as a value.
    ///
    /// - Throws: `GeneratedContentError` if it is none of that type.
    public func value<Value: ConvertibleFromGeneratedContent>(
        _ type: Value.Type = Value.self
    ) throws -> Value {
        try Value(self)
    }

    /// A property as a value.
    ///
    /// - Throws: `GeneratedContentError` if this is no structure, the property is missing or is no
    ///   value of that type; its path tells where.
    public func value<Value: ConvertibleFromGeneratedContent>(
        _ type: Value.Type = Value.self, forProperty property: String
    ) throws -> Value {
        guard let content = try structure()[property] else {
            throw GeneratedContentError.missingProperty(path: "").inside(property)
        }
        do {
            return try Value(content)
        } catch let error as GeneratedContentError {
            throw error.inside(property)
        }
    }

    /// A property as a value, or nil if it is missing or null.
    ///
    /// It is also nil while it is unfinished and no value can be made of it yet: a text that is not
    /// written to its end is a `String`, but not yet the case of an enum.
    ///
    /// - Throws: `GeneratedContentError` if this is no structure, or the property is no value of that
    ///   type; its path tells where.
    public func value<Value: ConvertibleFromGeneratedContent>(
        _ type: Value?.Type = Value?.self, forProperty property: String
    ) throws -> Value? {
        guard let content = try structure()[property], !content.isNull else { return nil }
        do {
            return try content.valueSoFar(Value.self)
        } catch let error as GeneratedContentError {
            throw error.inside(property)
        }
    }

    /// The content as a value; nil if it is unfinished and no value can be made of it yet.
    ///
    /// - Throws: `GeneratedContentError` if it is complete, and no value of that type.
    package func valueSoFar<Value: ConvertibleFromGeneratedContent>(
        _ type: Value.Type = Value.self
    ) throws -> Value? {
        guard !isComplete else { return try Value(self) }
        // The beginning of one case's name may be the name of another.
        if case .string = storage, !(Value.self is any UnfinishedText.Type) { return nil }
        do {
            return try Value(self)
        } catch {
            // What is missing may still come, and complete content throws.
            return nil
        }
    }

    /// The properties of a structure.
    func structure() throws(GeneratedContentError) -> [String: GeneratedContent] {
        // Nothing has been written yet.
        if isNull, !isComplete { return [:] }
        guard case .structure(let properties, _) = storage else { throw wrongKind("an object") }
        return properties
    }

    /// The name of the case of an enum whose cases have values: the property `type`. Code that
    /// `@Generable` makes uses it.
    ///
    /// - Throws: `GeneratedContentError` if there is none.
    public func caseName() throws -> String {
        if case .string(let name) = storage { return name }
        return try value(String.self, forProperty: "type")
    }

    /// The name of the case of an enum whose cases have no values: the content as a text. Code that
    /// `@Generable` makes uses it.
    ///
    /// - Throws: `GeneratedContentError` if it is no text.
    public func choiceName() throws -> String {
        try value(String.self)
    }

    /// The error that says that a type has no case of this name. Code that `@Generable` makes uses
    /// it.
    public func unknownCase(of type: any Generable.Type) -> GeneratedContentError {
        // Content without a name of a case is shown as an empty one, which is as wrong.
        let name = (try? caseName()) ?? ""
        return .unknownCase(path: "", type: TypeName.of(type), found: name)
    }

    /// The error that says that something else was expected.
    func wrongKind(_ expected: String) -> GeneratedContentError {
        .wrongKind(path: "", expected: expected, found: kindName)
    }

    private var kindName: String {
        let name =
            switch storage {
            case .null, .absent: "null"
            case .bool: "a boolean"
            case .number: "a number"
            case .string: "a string"
            case .array: "an array"
            case .structure: "an object"
            }
        return isComplete ? name : "\(name) that is not complete"
    }
}

/// Types that show a text before it is written to its end.
protocol UnfinishedText {}

extension String: UnfinishedText {}
extension GeneratedContent: UnfinishedText {}
