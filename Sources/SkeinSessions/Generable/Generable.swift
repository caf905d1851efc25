/// A type whose values a model can write.
///
/// `@Generable` conforms a struct or an enum to it. docs/GENERABLE.md shows how to do that by hand.
public protocol Generable: ConvertibleFromGeneratedContent, ConvertibleToGeneratedContent {
    /// What there is of a value while the model still writes it.
    associatedtype PartiallyGenerated: ConvertibleFromGeneratedContent = Self

    /// What values look like.
    static var generationSchema: GenerationSchema { get }

    /// The whole value as a partial one.
    func asPartiallyGenerated() -> PartiallyGenerated
}

extension Generable where PartiallyGenerated == Self {
    /// The value itself.
    public func asPartiallyGenerated() -> Self { self }
}

/// A type that can be made from what a model wrote. Numbers, texts, flags and arrays of such conform
/// to it, and `@Generable` conforms a type.
public protocol ConvertibleFromGeneratedContent: SendableMetatype {
    /// The value of a content.
    ///
    /// - Throws: `GeneratedContentError` if it is no value of this type.
    init(_ content: GeneratedContent) throws
}

/// A type whose values a model can read.
///
/// In a prompt, and in instructions, a value stands as its JSON text.
public protocol ConvertibleToGeneratedContent: InstructionsRepresentable, PromptRepresentable {
    /// The value as a model would write it.
    var generatedContent: GeneratedContent { get }
}

extension ConvertibleToGeneratedContent {
    /// The value as JSON text.
    public var promptRepresentation: Prompt {
        return Prompt(parts: [generatedContent.jsonString])
    }

    /// The value as JSON text.
    public var instructionsRepresentation: Instructions {
        return Instructions(parts: [generatedContent.jsonString])
    }
}
