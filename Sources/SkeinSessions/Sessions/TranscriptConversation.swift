import SkeinInference
import SkeinJSON
import SkeinText

/// A transcript as a chat template takes it: a function of the transcript alone, so that a live
/// session and one that was made from its transcript give the same tokens.
struct TranscriptConversation {
    private(set) var value: Conversation

    /// The model is shown the tools that the instructions list.
    ///
    /// - Parameters:
    ///   - entries: of a transcript.
    ///   - tools: of the session; nil: those of the instructions.
    ///   - choice: whether tools may be called.
    /// - Throws: `GenerationSchema.SchemaError`, `ToolProblem`.
    init(
        entries: [Transcript.Entry], tools: SessionTools?, choice: ToolChoice = .auto
    ) throws {
        var listed: [Transcript.ToolDefinition] = []
        if case .instructions(let instructions)? = entries.first {
            listed = instructions.toolDefinitions
        }
        let known = try tools ?? SessionTools(definitions: listed)
        value = Conversation(
            messages: [], tools: known.definitions, shownTools: known.definitions(in: listed),
            choice: known.definitions.isEmpty ? .none : choice)
        // What the model said before it called tools in the same turn.
        var said: String?
        func flush(_ messages: inout [ChatMessage]) {
            guard let text = said else { return }
            messages.append(ChatMessage(role: "assistant", content: text))
            said = nil
        }
        for entry in entries {
            switch entry {
            case .toolCalls(let calls):
                value.messages.append(Self.message(calls, said: said, known))
                said = nil
                continue
            default: flush(&value.messages)
            }
            switch entry {
            case .instructions(let instructions):
                let text = Self.text(instructions.segments)
                if !text.isEmpty {
                    value.messages.append(ChatMessage(role: "system", content: text))
                }
            case .prompt(let prompt):
                var text = Self.text(prompt.segments)
                if let format = prompt.responseFormat {
                    let block = try SchemaBlock(format.schema).text
                    if !value.blocks.contains(block) { value.blocks.append(block) }
                    text += block
                }
                value.messages.append(ChatMessage(role: "user", content: text))
            case .toolCalls: break
            case .toolOutput(let output):
                value.messages.append(Self.message(output, known))
            case .response(let response): said = Self.text(response.segments)
            }
        }
        flush(&value.messages)
    }

    static func text(_ segments: [Transcript.Segment]) -> String {
        segments.map { segment in
            switch segment {
            case .text(let text): text.content
            case .structure(let structure): structure.content.jsonString
            }
        }.joined(separator: "\n")
    }

    private static func message(
        _ calls: Transcript.ToolCalls, said: String?, _ tools: SessionTools
    ) -> ChatMessage {
        var message = ChatMessage(role: "assistant", content: said ?? "")
        let list = calls.map { call in
            JSONValue.object([
                JSONField(name: "id", value: .text(call.id)),
                JSONField(name: "type", value: .text("function")),
                JSONField(
                    name: "function",
                    value: .object([
                        JSONField(
                            name: "name", value: .text(tools.writtenName(of: call.toolName))),
                        JSONField(
                            name: "arguments", value: .text(call.arguments.jsonString)),
                    ])),
            ])
        }
        message.fields.append(JSONField(name: "tool_calls", value: .list(Array(list))))
        return message
    }

    private static func message(
        _ output: Transcript.ToolOutput, _ tools: SessionTools
    ) -> ChatMessage {
        var message = ChatMessage(role: "tool", content: text(output.segments))
        message.fields.append(
            JSONField(
                name: "tool_call_id", value: .text(output.callID ?? output.id)))
        message.fields.append(
            JSONField(
                name: "name", value: .text(tools.writtenName(of: output.toolName))))
        return message
    }
}
