/// Writes a structure, property by property. Code that `@Generable` makes uses it, because many
/// small calls compile faster than one literal of different types.
public struct PropertyWriter {
    private(set) var properties: [String: GeneratedContent] = [:]
    private var orderedKeys: [String] = []

    /// A structure without properties.
    public init() {}

    /// Writes a property. If properties have the same name, the last one counts, at the place of
    /// the first.
    public mutating func write(_ name: String, _ value: some ConvertibleToGeneratedContent) {
        write(name, content: value.generatedContent)
    }

    /// Writes a property unless its value is nil.
    public mutating func write(_ name: String, _ value: (some ConvertibleToGeneratedContent)?) {
        if let value { write(name, content: value.generatedContent) }
    }

    /// The structure.
    public var content: GeneratedContent { content(id: nil) }

    /// The structure, which is complete if its properties are.
    func content(id: GenerationID?) -> GeneratedContent {
        GeneratedContent(
            .structure(properties: properties, orderedKeys: orderedKeys), id: id,
            isComplete: properties.values.allSatisfy(\.isComplete))
    }

    mutating func write(_ name: String, content: GeneratedContent) {
        if content.isAbsent { return }
        if properties.updateValue(content, forKey: name) == nil { orderedKeys.append(name) }
    }
}
