/// What a model is asked: lines of text.
///
/// ```swift
/// let prompt = Prompt {
///     "Describe this trip in one sentence:"
///     itinerary
///     if isShort { "At most ten words." }
/// }
/// ```
///
/// Each component is a line, or several. A `Generable` value stands there as its JSON text.
public struct Prompt: PromptRepresentable, Sendable {
    /// Lines, or texts of several lines. None is not the same as one that is empty.
    let parts: [String]

    init(parts: [String]) {
        self.parts = parts
    }

    /// A prompt that says what a value says.
    public init(_ content: some PromptRepresentable) {
        self = content.promptRepresentation
    }

    /// A prompt of the lines that a closure lists.
    public init(@PromptBuilder _ content: () throws -> Prompt) rethrows {
        self = try content()
    }

    /// The prompt itself.
    // A body without `return` would be taken for a builder's, and call itself.
    public var promptRepresentation: Prompt { return self }

    /// What the model reads.
    package var text: String { parts.joined(separator: "\n") }
}

extension Prompt: CustomStringConvertible {
    /// The text.
    public var description: String { text }
}

/// What can stand in a prompt.
public protocol PromptRepresentable {
    /// The value as a prompt.
    @PromptBuilder var promptRepresentation: Prompt { get }
}

extension String: PromptRepresentable {
    /// The text itself, not in quotes.
    public var promptRepresentation: Prompt { return Prompt(parts: [self]) }
}

extension Array: PromptRepresentable where Element: PromptRepresentable {
    /// The elements, each on a line of its own.
    public var promptRepresentation: Prompt {
        return Prompt(parts: flatMap(\.promptRepresentation.parts))
    }
}
