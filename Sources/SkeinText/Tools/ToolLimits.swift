/// What a client's tools and calls may take.
package enum ToolLimits {
    /// Tools of one request, as OpenAI has it.
    package static let tools = 128
    /// Bytes of a tool's name, as OpenAI has it.
    package static let nameBytes = 64
    /// Bytes of all definitions together: half of what the grammar of all calls may have.
    package static let definitionBytes = 1 << 19
    /// Calls of one message or answer.
    package static let calls = 128
    /// Schemas that are found impossible one by one, at up to a second each. After so many, or one that is
    /// too large, none is enforced that need not be.
    package static let impossibleSchemas = 8
    /// Bytes of white space before a call that are held back and then dropped.
    package static let heldSpace = 64
}
