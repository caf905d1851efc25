/// What a prompt says of the form of its reply: the end of a user's turn.
struct SchemaBlock: Sendable {
    /// Begins with a blank line. Cut into tokens by itself, so that it adds exactly its own tokens.
    let text: String

    /// - Throws: `GenerationSchema.SchemaError`.
    init(_ schema: GenerationSchema) throws {
        text = "\n\nGive \(SchemaOutline(try schema.json()).text) as JSON."
    }
}
