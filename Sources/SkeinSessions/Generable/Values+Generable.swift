extension String: Generable {
    /// Any text.
    public static var generationSchema: GenerationSchema { GenerationSchema(.text) }

    /// The text of a content.
    ///
    /// - Throws: `GeneratedContentError` if it is no string.
    public init(_ content: GeneratedContent) throws {
        guard case .string(let text) = content.storage else { throw content.wrongKind("a string") }
        self = text
    }

    /// The text as a string.
    public var generatedContent: GeneratedContent { GeneratedContent(.string(self)) }
}

extension Bool: Generable {
    /// True or false.
    public static var generationSchema: GenerationSchema { GenerationSchema(.boolean) }

    /// The value of a content.
    ///
    /// - Throws: `GeneratedContentError` if it is no boolean.
    public init(_ content: GeneratedContent) throws {
        guard case .bool(let value) = content.storage else { throw content.wrongKind("a boolean") }
        self = value
    }

    /// The value as a boolean.
    public var generatedContent: GeneratedContent { GeneratedContent(.bool(self)) }
}

extension GeneratedContent: Generable {
    /// Any JSON value.
    public static var generationSchema: GenerationSchema { GenerationSchema(.anything) }

    /// The content itself.
    public init(_ content: GeneratedContent) throws { self = content }

    /// The content itself.
    public var generatedContent: GeneratedContent { self }
}

extension Never: Generable {
    /// What no value satisfies.
    public static var generationSchema: GenerationSchema { GenerationSchema(.nothing) }

    /// Always fails.
    ///
    /// - Throws: `GeneratedContentError`.
    public init(_ content: GeneratedContent) throws { throw content.wrongKind("nothing") }

    /// There is no value.
    public var generatedContent: GeneratedContent { switch self {} }
}

extension Array: ConvertibleFromGeneratedContent where Element: ConvertibleFromGeneratedContent {
    /// The elements of a content. The last one is left out while it is unfinished and no value can be
    /// made of it yet.
    ///
    /// - Throws: `GeneratedContentError` if it is no array, or an element cannot be converted.
    public init(_ content: GeneratedContent) throws {
        guard case .array(let contents) = content.storage else {
            throw content.wrongKind("an array")
        }
        self = []
        reserveCapacity(contents.count)
        for (index, content) in contents.enumerated() {
            do {
                if let element = try content.valueSoFar(Element.self) { append(element) }
            } catch let error as GeneratedContentError {
                throw error.inside(index)
            }
        }
    }
}

extension Array: ConvertibleToGeneratedContent where Element: ConvertibleToGeneratedContent {
    /// The elements as an array.
    public var generatedContent: GeneratedContent {
        GeneratedContent(elements: map(\.generatedContent), nil)
    }
}

extension Array: Generable where Element: Generable {
    /// The elements so far, the last one perhaps unfinished.
    public typealias PartiallyGenerated = [Element.PartiallyGenerated]

    /// Any number of elements, from none.
    public static var generationSchema: GenerationSchema {
        GenerationSchema(.list(of: .type(Element.self)))
    }

    /// The elements as partial ones.
    public func asPartiallyGenerated() -> [Element.PartiallyGenerated] {
        map { $0.asPartiallyGenerated() }
    }
}

extension Optional: PromptRepresentable, InstructionsRepresentable, ConvertibleToGeneratedContent
where Wrapped: ConvertibleToGeneratedContent {
    /// The value, or null, which structures leave out.
    public var generatedContent: GeneratedContent {
        self?.generatedContent ?? GeneratedContent(.absent)
    }

    /// What the value says; nil says nothing.
    public var promptRepresentation: Prompt {
        return self?.promptRepresentation ?? Prompt(parts: [])
    }

    /// What the value says; nil says nothing.
    public var instructionsRepresentation: Instructions {
        return self?.instructionsRepresentation ?? Instructions(parts: [])
    }
}

extension Optional where Wrapped: Generable {
    /// What there is of a value while the model still writes it.
    public typealias PartiallyGenerated = Wrapped.PartiallyGenerated
}
