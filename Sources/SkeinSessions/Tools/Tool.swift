import Foundation

/// Something that a model may call while it answers: to look something up, or to do something.
///
/// ```swift
/// struct Stock: Tool {
///     let description = "Tells how many pieces of an article are left"
///
///     @Generable
///     struct Arguments {
///         @Guide(description: "The article's number", .range(1...9999))
///         var article: Int
///     }
///
///     func call(arguments: Arguments) async throws -> String {
///         "\(try await shelf.pieces(of: arguments.article)) pieces are left"
///     }
/// }
/// ```
///
/// Name, description and schema are presented to the model in each request and take tokens, so keep
/// them short; `includesSchemaInInstructions` is for models that know a tool already. Calls may run
/// at the same time, with others and with each other, and off the main actor. The program that
/// makes a tool keeps it, so a class may remember things between calls.
public protocol Tool<Arguments, Output>: Sendable {
    /// What the model writes to call the tool: a `@Generable` type, or `GeneratedContent` with a
    /// schema in `parameters`.
    associatedtype Arguments: ConvertibleFromGeneratedContent
    /// What the model reads of the result: a text, or any value with a content.
    associatedtype Output: PromptRepresentable

    /// What the model calls the tool by; no other tool of a session has the same. By default the
    /// name of the type.
    var name: String { get }

    /// What the tool is good for, in a sentence for the model.
    var description: String { get }

    /// What the arguments look like: an object. By default the schema of `Arguments`.
    var parameters: GenerationSchema { get }

    /// Whether the instructions present the tool: its name, description and schema. False only for a
    /// model that has learnt to call it, as with an adapter that was trained on such calls; it may call
    /// the tool then without having been told of it, and arguments follow the schema in any case. By
    /// default true.
    var includesSchemaInInstructions: Bool { get }

    /// Does what the model asks for.
    ///
    /// - Parameter arguments: always valid for `parameters`.
    /// - Returns: what the model is told.
    /// - Throws: any error; it ends the request as `LanguageModelSession.ToolCallError`. A failure
    ///   that the model should hear of is returned as text instead.
    func call(arguments: Arguments) async throws -> Output
}

extension Tool {
    /// The name of the type.
    public var name: String { TypeName.of(Self.self) }

    /// True.
    public var includesSchemaInInstructions: Bool { true }
}

extension Tool where Arguments: Generable {
    /// The schema of `Arguments`.
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

// Arguments have names, so one bare value is refused where a tool is declared, not when it is
// called.

extension Tool where Arguments == String {
    /// Not there: arguments are a `@Generable` struct.
    @available(*, unavailable, message: "make Arguments a @Generable struct")
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Int {
    /// Not there: arguments are a `@Generable` struct.
    @available(*, unavailable, message: "make Arguments a @Generable struct")
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Double {
    /// Not there: arguments are a `@Generable` struct.
    @available(*, unavailable, message: "make Arguments a @Generable struct")
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Float {
    /// Not there: arguments are a `@Generable` struct.
    @available(*, unavailable, message: "make Arguments a @Generable struct")
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Decimal {
    /// Not there: arguments are a `@Generable` struct.
    @available(*, unavailable, message: "make Arguments a @Generable struct")
    public var parameters: GenerationSchema { Arguments.generationSchema }
}

extension Tool where Arguments == Bool {
    /// Not there: arguments are a `@Generable` struct.
    @available(*, unavailable, message: "make Arguments a @Generable struct")
    public var parameters: GenerationSchema { Arguments.generationSchema }
}
