extension GeneratedContent {
    /// The content that a value becomes.
    public init(_ value: some ConvertibleToGeneratedContent) {
        self = value.generatedContent
    }

    /// A structure with properties in the order in which they are listed.
    ///
    /// Optional values that are nil are left out. If properties have the same name, the last one
    /// counts, at the place of the first.
    public init(
        properties: KeyValuePairs<String, any ConvertibleToGeneratedContent>,
        id: GenerationID? = nil
    ) {
        var writer = PropertyWriter()
        for (name, value) in properties { writer.write(name, content: value.generatedContent) }
        self = writer.content(id: id)
    }

    /// A structure with the properties of a sequence, in its order. Optional values that are nil are
    /// left out.
    ///
    /// - Parameters:
    ///   - properties: names and values.
    ///   - id: of the structure.
    ///   - combine: makes one value of two that have the same name.
    /// - Throws: what `combine` throws.
    public init<S: Sequence>(
        properties: S, id: GenerationID? = nil,
        uniquingKeysWith combine:
            (GeneratedContent, GeneratedContent) throws -> some ConvertibleToGeneratedContent
    ) rethrows where S.Element == (String, any ConvertibleToGeneratedContent) {
        var writer = PropertyWriter()
        for (name, value) in properties {
            let content = value.generatedContent
            if let old = writer.properties[name], !content.isAbsent {
                writer.write(name, content: try combine(old, content).generatedContent)
            } else {
                writer.write(name, content: content)
            }
        }
        self = writer.content(id: id)
    }

    /// An array of values that may be of different types.
    public init<S: Sequence>(elements: S, id: GenerationID? = nil)
    where S.Element == any ConvertibleToGeneratedContent {
        self.init(elements: elements.map(\.generatedContent), id)
    }

    /// An array of values.
    public init<S: Sequence>(elements: S, id: GenerationID? = nil)
    where S.Element: ConvertibleToGeneratedContent {
        self.init(elements: elements.map(\.generatedContent), id)
    }

    /// A content of a kind. A number that is not finite becomes null, as JSON has none. Names without
    /// a property are left out; properties that are not named follow the others in alphabetical
    /// order.
    public init(kind: Kind, id: GenerationID? = nil) {
        switch kind {
        case .null: self.init(.null, id: id)
        case .bool(let value): self.init(.bool(value), id: id)
        case .number(let value): self.init(NumberText(value), id: id)
        case .string(let text): self.init(.string(text), id: id)
        case .array(let elements): self.init(elements: elements, id)
        case .structure(let properties, let orderedKeys):
            var writer = PropertyWriter()
            for key in orderedKeys + properties.keys.sorted() {
                if let value = properties[key] { writer.write(key, content: value) }
            }
            self = writer.content(id: id)
        }
    }

    /// An array, which is complete if its elements are.
    init(elements: [GeneratedContent], _ id: GenerationID?) {
        self.init(.array(elements), id: id, isComplete: elements.allSatisfy(\.isComplete))
    }

    /// A number, or null if there is none.
    init(_ number: NumberText?, id: GenerationID? = nil) {
        self.init(number.map(Storage.number) ?? .null, id: id)
    }
}
