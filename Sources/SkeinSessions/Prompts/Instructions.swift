/// How a model should behave in a session: lines of text that outrank every prompt.
///
/// What people have typed belongs in prompts, never in instructions.
///
/// ```swift
/// let session = LanguageModelSession {
///     "You are a tour guide."
///     "Answer in at most three sentences."
/// }
/// ```
///
/// Each component is a line, or several. A `Generable` value stands there as its JSON text.
public struct Instructions: InstructionsRepresentable, Sendable {
    /// Lines, or texts of several lines. None is not the same as one that is empty.
    let parts: [String]

    init(parts: [String]) {
        self.parts = parts
    }

    /// Instructions that say what a value says.
    public init(_ content: some InstructionsRepresentable) {
        self = content.instructionsRepresentation
    }

    /// Instructions of the lines that a closure lists.
    public init(@InstructionsBuilder _ content: () throws -> Instructions) rethrows {
        self = try content()
    }

    /// The instructions themselves.
    // A body without `return` would be taken for a builder's, and call itself.
    public var instructionsRepresentation: Instructions { return self }

    /// What the model reads.
    package var text: String { parts.joined(separator: "\n") }
}

extension Instructions: CustomStringConvertible {
    /// The text.
    public var description: String { text }
}

/// What can stand in instructions.
public protocol InstructionsRepresentable {
    /// The value as instructions.
    @InstructionsBuilder var instructionsRepresentation: Instructions { get }
}

extension String: InstructionsRepresentable {
    /// The text itself, not in quotes.
    public var instructionsRepresentation: Instructions { return Instructions(parts: [self]) }
}

extension Array: InstructionsRepresentable where Element: InstructionsRepresentable {
    /// The elements, each on a line of its own.
    public var instructionsRepresentation: Instructions {
        return Instructions(parts: flatMap(\.instructionsRepresentation.parts))
    }
}
