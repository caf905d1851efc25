import SkeinGrammar
import SkeinJSON

/// Reads the coded form of a transcript, and nothing but that: what `TranscriptWriter` documents.
enum TranscriptReader {
    /// - Throws: `TranscriptError`.
    static func transcript(_ value: JSONValue) throws(TranscriptError) -> Transcript {
        // The type and the version come first: another version may well have other keys.
        let head = value.fields?.reduce(into: [String: JSONValue]()) { $0[$1.name] = $1.value }
        if let type = head?["type"]?.string, type != TranscriptLimits.type {
            throw .unknownType(found: type, expected: TranscriptLimits.type)
        }
        if let version = head?["version"] { try check(version: version) }
        let object = try CodedObject(
            value, at: "", required: ["type", "version", "transcript"])
        _ = try object.requiredText("type")
        let entries = try object.value("transcript") { value, place throws(TranscriptError) in
            let inner = try CodedObject(value, at: place, required: ["entries"])
            if let count = inner["entries"]?.list?.count, count > TranscriptLimits.entries {
                throw .tooManyEntries(found: count, limit: TranscriptLimits.entries)
            }
            return try inner.list("entries") { value, place throws(TranscriptError) in
                try entry(value, at: place)
            }
        }
        let transcript = Transcript(entries: entries ?? [])
        try transcript.check(byIdentity: true)
        return transcript
    }

    private static func check(version: JSONValue) throws(TranscriptError) {
        let supported = TranscriptLimits.version
        switch version {
        case .number(let text) where Double(text) == Double(supported): return
        case .number(let text) where (Double(text) ?? 0) > Double(supported):
            throw .newerVersion(found: text, supported: supported)
        // Later versions of the form are texts, such as "1.1".
        case .text(let text): throw .newerVersion(found: text, supported: supported)
        default: throw .wrongValue(place: "version", expected: "\(supported)")
        }
    }

    private static func entry(
        _ value: JSONValue, at place: String
    ) throws(TranscriptError) -> Transcript.Entry {
        switch value["role"]?.string {
        case "instructions": return .instructions(try instructions(value, at: place))
        case "user": return .prompt(try prompt(value, at: place))
        case "tool": return .toolOutput(try toolOutput(value, at: place))
        case "response" where value["toolCalls"] != nil:
            return .toolCalls(try toolCalls(value, at: place))
        case "response": return .response(try response(value, at: place))
        default:
            // An object without a role lacks it; what is no object is said to be none.
            _ = try CodedObject(
                value, at: place, required: ["role"], optional: (value.fields ?? []).map(\.name))
            throw .wrongValue(
                place: "\(place).role", expected: "instructions, user, response or tool")
        }
    }

    private static func instructions(
        _ value: JSONValue, at place: String
    ) throws(TranscriptError) -> Transcript.Instructions {
        let object = try CodedObject(
            value, at: place, required: ["id", "role", "contents"], optional: ["tools"])
        return Transcript.Instructions(
            id: try object.requiredText("id"), segments: try segments(of: object),
            toolDefinitions: try object.list("tools") { value, place throws(TranscriptError) in
                try toolDefinition(value, at: place)
            })
    }

    private static func prompt(
        _ value: JSONValue, at place: String
    ) throws(TranscriptError) -> Transcript.Prompt {
        let object = try CodedObject(
            value, at: place, required: ["id", "role", "contents"],
            optional: ["options", "responseFormat"])
        let options = try object.value("options") { value, place throws(TranscriptError) in
            try GenerationOptions(coded: value, at: place)
        }
        return Transcript.Prompt(
            id: try object.requiredText("id"), segments: try segments(of: object),
            options: options ?? GenerationOptions(),
            responseFormat: try object.value("responseFormat") {
                value, place throws(TranscriptError) in
                try responseFormat(value, at: place)
            })
    }

    private static func toolCalls(
        _ value: JSONValue, at place: String
    ) throws(TranscriptError) -> Transcript.ToolCalls {
        let object = try CodedObject(
            value, at: place, required: ["id", "role", "toolCalls"],
            optional: ["contents", "assets"])
        for name in ["contents", "assets"] {
            guard object[name]?.list?.isEmpty ?? true else {
                throw object.wrong(name, "an empty array beside toolCalls")
            }
        }
        let calls = try object.list("toolCalls") { value, place throws(TranscriptError) in
            let call = try CodedObject(value, at: place, required: ["id", "name", "arguments"])
            let text = try call.requiredText("arguments")
            // The error names the place; what a text is that is no JSON helps little.
            guard let arguments = try? GeneratedContent(json: text), arguments.isComplete else {
                throw call.wrong("arguments", "JSON as text")
            }
            return Transcript.ToolCall(
                id: try call.requiredText("id"), toolName: try call.requiredText("name"),
                arguments: arguments)
        }
        return Transcript.ToolCalls(id: try object.requiredText("id"), calls)
    }

    private static func toolOutput(
        _ value: JSONValue, at place: String
    ) throws(TranscriptError) -> Transcript.ToolOutput {
        let object = try CodedObject(
            value, at: place, required: ["id", "role", "toolName", "toolCallID", "contents"])
        return Transcript.ToolOutput(
            id: try object.requiredText("id"), callID: try object.requiredText("toolCallID"),
            toolName: try object.requiredText("toolName"), segments: try segments(of: object))
    }

    private static func response(
        _ value: JSONValue, at place: String
    ) throws(TranscriptError) -> Transcript.Response {
        let object = try CodedObject(
            value, at: place, required: ["id", "role", "contents"], optional: ["assets"])
        return Transcript.Response(
            id: try object.requiredText("id"),
            assetIDs: try object.list("assets") { value, place throws(TranscriptError) in
                guard let text = value.string else {
                    throw .wrongValue(place: place, expected: "a string")
                }
                return text
            },
            segments: try segments(of: object))
    }
}

extension TranscriptReader {
    private static func segments(
        of object: CodedObject
    ) throws(TranscriptError) -> [Transcript.Segment] {
        try object.list("contents") { value, place throws(TranscriptError) in
            switch value["type"]?.string {
            case "text":
                let object = try CodedObject(value, at: place, required: ["type", "text", "id"])
                return .text(
                    Transcript.TextSegment(
                        id: try object.requiredText("id"),
                        content: try object.requiredText("text")))
            case "structure": return .structure(try structure(value, at: place))
            default:
                throw .wrongValue(place: "\(place).type", expected: "text or structure")
            }
        }
    }

    private static func structure(
        _ value: JSONValue, at place: String
    ) throws(TranscriptError) -> Transcript.StructuredSegment {
        let object = try CodedObject(value, at: place, required: ["type", "structure", "id"])
        let id = try object.requiredText("id")
        let segment = try object.value("structure") { value, place throws(TranscriptError) in
            let inner = try CodedObject(
                value, at: place, required: ["source", "content"], optional: ["x-order"])
            var content = inner["content"] ?? .null
            if let order = inner["x-order"] {
                guard let ordered = KeyOrder.applying(order, to: content) else {
                    throw inner.wrong("x-order", "the keys of content")
                }
                content = ordered
            }
            // The error names the place in the transcript.
            guard let generated = try? GeneratedContent(json: content.written) else {
                throw inner.wrong("content", "content that a model can generate")
            }
            return Transcript.StructuredSegment(
                id: id, source: try inner.requiredText("source"), content: generated)
        }
        guard let segment else { throw .missingKey(name: "structure", place: place) }
        return segment
    }

    private static func toolDefinition(
        _ value: JSONValue, at place: String
    ) throws(TranscriptError) -> Transcript.ToolDefinition {
        let function = try content(
            of: "function", value, at: place, required: ["name", "description", "parameters"])
        return Transcript.ToolDefinition(
            name: try function.requiredText("name"),
            description: try function.requiredText("description"),
            parameters: try schema("parameters", of: function))
    }

    private static func responseFormat(
        _ value: JSONValue, at place: String
    ) throws(TranscriptError) -> Transcript.ResponseFormat {
        let format = try content(
            of: "jsonSchema", value, at: place, required: ["name", "schema"])
        return Transcript.ResponseFormat(
            name: try format.requiredText("name"), schema: try schema("schema", of: format))
    }

    /// What an object of a type has under the type's name: an object of these keys.
    private static func content(
        of type: String, _ value: JSONValue, at place: String, required: [String]
    ) throws(TranscriptError) -> CodedObject {
        let object = try CodedObject(value, at: place, required: ["type", type])
        guard try object.text("type") == type else { throw object.wrong("type", type) }
        guard let inner = object[type] else { throw .missingKey(name: type, place: place) }
        return try CodedObject(inner, at: object.place(of: type), required: required)
    }

    private static func schema(
        _ name: String, of object: CodedObject
    ) throws(TranscriptError) -> GenerationSchema {
        guard let value = object[name], let schema = SchemaText.schema(value) else {
            throw object.wrong(name, "a schema")
        }
        return schema
    }
}
