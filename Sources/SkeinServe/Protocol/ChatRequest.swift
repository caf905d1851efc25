import SkeinAnswers
import SkeinBasics
import SkeinGrammar
import SkeinJSON
import SkeinText

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
    /// Whether the prompt ends with the beginning of an answer.
    var addsPrompt = true
    /// Variables for the template, as vLLM has them, such as `enable_thinking`.
    var arguments: [JSONField]

    init(_ fields: FieldReader, randomSeed: () -> UInt64) throws(APIError) {
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
        arguments = []
        if let given = fields["chat_template_kwargs"] {
            guard let found = given.fields else {
                throw fields.wrong("chat_template_kwargs", "an object")
            }
            arguments = found
        }
        for name in ["audio", "functions", "function_call"] where fields[name] != nil {
            throw .invalid(name, "\(name) is not supported: leave it out", code: "unsupported")
        }
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
