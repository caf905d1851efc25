import SkeinBasics
import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinText

/// How the prompt of a conversation ends.
enum ChatEnd: Sendable, Equatable {
    /// With the beginning of an answer.
    case answer
    /// With the last turn.
    case turn
    /// In the last message, which the answer continues.
    case continuation
}

/// A body of /v1/chat/completions.
struct ChatRequest: Sendable {
    var model: String?
    var messages: [ChatMessage]
    var sampling: SamplingRequest
    var form: AnswerForm
    var tools: [Tool]
    var toolChoice: ToolChoice
    var parallelCalls: Bool
    /// Likeliest tokens to tell at each place; nil: no log-probabilities.
    var logprobs: Int?
    /// How the prompt ends.
    var end: ChatEnd
    /// Whether the answer is told with what it continues.
    var echoes: Bool
    /// Variables for the template, as vLLM has them, such as `enable_thinking`.
    var arguments: [JSONField]

    init(_ fields: FieldReader, randomSeed: () -> UInt64) throws(APIError) {
        try RequestFields.check(fields, .chat)
        model = try fields.string("model")
        sampling = try SamplingRequest(fields, randomSeed: randomSeed)
        messages = try Self.messages(fields)
        form = try AnswerForm(fields)
        (tools, toolChoice, parallelCalls) = try Self.tools(fields)
        let top = try fields.integer("top_logprobs", 0...Limits.topLogprobs)
        logprobs = try fields.bool("logprobs") ?? false ? top ?? 0 : nil
        guard top == nil || logprobs != nil else {
            throw .invalid("top_logprobs", "top_logprobs takes logprobs: true beside it")
        }
        end = try Self.end(fields, &messages)
        echoes = try fields.bool("echo") ?? false
        arguments = try Self.arguments(fields)
    }

    /// vLLM's `continue_final_message` and `add_generation_prompt`, or `prefix` in the last message as
    /// DeepSeek and Mistral have it.
    private static func end(
        _ fields: FieldReader, _ messages: inout [ChatMessage]
    ) throws(APIError) -> ChatEnd {
        let adds = try fields.bool("add_generation_prompt")
        var field = "continue_final_message"
        var continues = try fields.bool(field) ?? false
        let last = messages.count - 1
        if messages[last].role == "assistant", case .bool(let flag)? = messages[last]["prefix"] {
            messages[last].fields.removeAll { $0.name == "prefix" }
            if flag, !continues { (continues, field) = (true, "messages[\(last)].prefix") }
        }
        guard continues else { return adds == false ? .turn : .answer }
        guard adds != true else {
            throw .invalid(
                "add_generation_prompt",
                "\(field) and add_generation_prompt: true exclude each other: leave one out")
        }
        guard messages[last].role == "assistant", messages[last]["content"]?.string != nil else {
            throw .invalid(field, "\(field) continues a last message of the role assistant")
        }
        guard messages[last]["tool_calls"] == nil else {
            throw .invalid(field, "\(field) continues a text: the last message has tool_calls")
        }
        return .continuation
    }

    /// `chat_template_kwargs`; before these, what vLLM gives to templates out of the request.
    private static func arguments(_ fields: FieldReader) throws(APIError) -> [JSONField] {
        var arguments: [JSONField] = []
        if let given = fields["chat_template_kwargs"] {
            guard let found = given.fields else {
                throw fields.wrong("chat_template_kwargs", "an object")
            }
            if let name = TemplateArgumentText.reserved.first(where: { found[$0] != nil }) {
                throw .invalid(
                    "chat_template_kwargs",
                    "\(name) is a field of the request, and no argument here")
            }
            arguments = found
        }
        if let effort = try fields.string("reasoning_effort"), arguments["reasoning_effort"] == nil
        {
            arguments.append(JSONField(name: "reasoning_effort", value: .text(effort)))
            if arguments["enable_thinking"] == nil {
                arguments.append(JSONField(name: "enable_thinking", value: .bool(effort != "none")))
            }
        }
        if let documents = fields["documents"], arguments["documents"] == nil {
            guard documents.list != nil else { throw fields.wrong("documents", "a list") }
            arguments.append(JSONField(name: "documents", value: documents))
        }
        return arguments
    }

    private static func tools(
        _ fields: FieldReader
    ) throws(APIError) -> (tools: [Tool], choice: ToolChoice, parallel: Bool) {
        do throws(ToolProblem) {
            let tools = try Tool.list(fields["tools"])
            return (
                tools, try ToolChoice.read(fields["tool_choice"], tools: tools),
                try ToolChoice.isParallel(fields["parallel_tool_calls"])
            )
        } catch {
            throw APIError(error)
        }
    }

    /// The messages, checked as far as templates need it; other fields are theirs to look at.
    static func messages(_ fields: FieldReader) throws(APIError) -> [ChatMessage] {
        guard let list = fields["messages"]?.list, !list.isEmpty, list.count <= Limits.messages
        else {
            throw fields.wrong("messages", "a list of 1 to \(Limits.messages) messages")
        }
        var messages: [ChatMessage] = []
        for (index, item) in list.enumerated() {
            messages.append(try message(item, at: "messages[\(index)]"))
        }
        return messages
    }

    private static let roles = ["system", "developer", "user", "assistant", "tool"]

    private static func message(
        _ value: JSONValue, at place: String
    ) throws(APIError) -> ChatMessage {
        guard let fields = value.fields else { throw .invalid(place, "\(place) is an object") }
        let reader = FieldReader(value, at: place)
        guard let role = try reader.string("role"), roles.contains(role) else {
            throw reader.wrong("role", "one of " + roles.joined(separator: ", "))
        }
        if let calls = reader["tool_calls"], calls.list == nil {
            throw reader.wrong("tool_calls", "a list")
        }
        var content = try text(reader["content"], of: reader)
        if content == nil {
            // An answer that was empty comes back so.
            guard role == "assistant" else { throw reader.wrong("content", "a string") }
            if reader["tool_calls"]?.list?.isEmpty != false { content = "" }
        }
        var message = ChatMessage(fields: [
            .init(name: "role", value: .text(role)),
            .init(name: "content", value: content.map { .text($0) } ?? .null),
        ])
        for field in fields where !["role", "content"].contains(field.name) {
            if case .null = field.value { continue }
            message.fields.append(.init(name: field.name, value: field.value))
        }
        return message
    }

    /// A string, or parts of which all are texts.
    private static func text(
        _ content: JSONValue?, of reader: FieldReader
    ) throws(APIError) -> String? {
        guard let content else { return nil }
        if let text = content.string { return text }
        guard let parts = content.list else {
            throw reader.wrong("content", "a string, or a list of text parts")
        }
        var texts: [String] = []
        for (index, part) in parts.enumerated() {
            guard part["type"]?.string == "text", let text = part["text"]?.string else {
                throw .invalid(
                    reader.place("content[\(index)]"),
                    "only parts of the type text can be read here, no images, sounds or files",
                    code: "unsupported")
            }
            texts.append(text)
        }
        return texts.joined(separator: "\n")
    }
}

extension APIError {
    init(_ problem: ToolProblem) {
        let explanation = problem.explanation
        self = .invalid(
            problem.path, "\(problem.path): \(explanation.what): \(explanation.remedy)",
            code: "invalid_tools")
    }
}
