/// What a tool answered, whatever its type.
package struct ErasedToolOutput: Sendable {
    /// What the model reads.
    package let prompt: Prompt
    /// What a transcript keeps: one segment, with a structure unless the output is plain text.
    package let segments: [Transcript.Segment]
}

extension Tool {
    /// Calls the tool with what a model wrote.
    ///
    /// - Parameter arguments: the content, written by the schema `parameters`.
    /// - Returns: the output as text and as segments.
    /// - Throws: `ToolError.badArguments` if the content is no value of `Arguments`; what the tool
    ///   throws, as it is.
    package func callErased(_ arguments: GeneratedContent) async throws -> ErasedToolOutput {
        let value: Arguments
        do {
            value = try Arguments(arguments)
        } catch {
            throw ToolError.badArguments(tool: name, reason: words(of: error))
        }
        let output = try await call(arguments: value)
        let prompt = output.promptRepresentation
        return ErasedToolOutput(
            prompt: prompt, segments: [Self.segment(of: output, prompt: prompt)])
    }

    private static func segment(of output: Output, prompt: Prompt) -> Transcript.Segment {
        // An output that writes its prompt itself is read as it writes it.
        guard !(output is String), let value = output as? any ConvertibleToGeneratedContent,
            value.generatedContent.jsonString == prompt.text
        else {
            return .text(Transcript.TextSegment(content: prompt.text))
        }
        return .structure(
            Transcript.StructuredSegment(
                source: TypeName.of(type(of: value)), content: value.generatedContent))
    }
}

extension Collection where Element == any Tool {
    /// Whether a session can present these tools: names that are there, short and different, and
    /// parameters that are objects.
    ///
    /// - Throws: `ToolError`, for the first tool that cannot be presented.
    package func check() throws(ToolError) {
        var names: Set<String> = []
        for tool in self {
            try ToolError.check(name: tool.name)
            guard names.insert(tool.name).inserted else { throw .duplicateName(tool.name) }
            let coded: SchemaText.Kind
            do {
                coded = try SchemaText.kind(of: tool.parameters)
            } catch {
                throw .badSchema(tool: tool.name, reason: words(of: error))
            }
            guard coded == .object else { throw .parametersNotObject(tool: tool.name) }
        }
    }
}
