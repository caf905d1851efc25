import SkeinGrammar
import SkeinJSON

/// The coded form of a transcript.
///
/// ```json
/// {"type":"FoundationModels.Transcript","version":1,"transcript":{"entries":[
///   {"id":"1","role":"instructions","contents":[{"type":"text","text":"Be brief.","id":"2"}]},
///   {"id":"3","role":"user","contents":[...],"options":{"temperature":0.7}},
///   {"id":"4","role":"response","toolCalls":[{"id":"5","name":"weather","arguments":"{...}"}]},
///   {"id":"5","role":"tool","toolName":"weather","toolCallID":"5","contents":[...]},
///   {"id":"6","role":"response","contents":[...],"assets":["base-model"]}]}}
/// ```
enum TranscriptWriter {
    /// - Throws: `TranscriptError.tooDeep`, `.tooLarge`; `OptionsError`; what a schema throws that
    ///   cannot be coded.
    static func coded(_ transcript: Transcript) throws -> JSONValue {
        // Calls and outputs that do not pair keep the identifiers that they have.
        let pairs = try? transcript.check()
        let entries = try transcript.enumerated().map { index, entry in
            try coded(entry, answering: pairs?[index])
        }
        let value = JSONValue.fields([
            "type": .text(TranscriptLimits.type),
            "version": .number("\(TranscriptLimits.version)"),
            "transcript": .fields(["entries": .list(entries)]),
        ])
        // What is written can be read again.
        guard value.depth <= GrammarLimits.jsonDepth else {
            throw TranscriptError.tooDeep(limit: GrammarLimits.jsonDepth)
        }
        return value
    }

    // `callID`: the call that an output answers, if it is known.
    static func coded(
        _ entry: Transcript.Entry, answering callID: String? = nil
    ) throws -> JSONValue {
        switch entry {
        case .instructions(let entry):
            let tools = try entry.toolDefinitions.map(coded)
            return .fields([
                "id": .text(entry.id), "role": .text("instructions"),
                "contents": try coded(entry.segments), "tools": tools.isEmpty ? nil : .list(tools),
            ])
        case .prompt(let entry):
            return .fields([
                "id": .text(entry.id), "role": .text("user"),
                "contents": try coded(entry.segments), "options": try entry.options.coded(),
                "responseFormat": try entry.responseFormat.map(coded),
            ])
        case .toolCalls(let entry):
            return .fields([
                "id": .text(entry.id), "role": .text("response"),
                "toolCalls": .list(entry.map(coded)),
            ])
        case .toolOutput(let entry):
            return .fields([
                "id": .text(entry.id), "role": .text("tool"), "toolName": .text(entry.toolName),
                "toolCallID": .text(callID ?? entry.callID ?? entry.id),
                "contents": try coded(entry.segments),
            ])
        case .response(let entry):
            return .fields([
                "id": .text(entry.id), "role": .text("response"),
                "contents": try coded(entry.segments),
                "assets": .list(entry.assetIDs.map { .text($0) }),
            ])
        }
    }

    private static func coded(_ segments: [Transcript.Segment]) throws -> JSONValue {
        .list(try segments.map(coded))
    }

    private static func coded(_ segment: Transcript.Segment) throws -> JSONValue {
        switch segment {
        case .text(let segment):
            return .fields([
                "type": .text("text"), "text": .text(segment.content), "id": .text(segment.id),
            ])
        case .structure(let segment):
            let content = try content(segment.content)
            return .fields([
                "type": .text("structure"),
                "structure": .fields([
                    "source": .text(segment.source), "content": content,
                    "x-order": KeyOrder.coded(of: content),
                ]),
                "id": .text(segment.id),
            ])
        }
    }

    private static func content(_ content: GeneratedContent) throws(TranscriptError) -> JSONValue {
        let value = content.json
        let (count, limit) = (value.utf8.count, TranscriptLimits.codedBytes)
        guard count <= limit else { throw .tooLarge(bytes: count, limit: limit) }
        guard value.depth <= GrammarLimits.jsonDepth else {
            throw .tooDeep(limit: GrammarLimits.jsonDepth)
        }
        return value
    }

    private static func coded(_ call: Transcript.ToolCall) -> JSONValue {
        .fields([
            "id": .text(call.id), "name": .text(call.toolName),
            "arguments": .text(call.arguments.jsonString),
        ])
    }

    private static func coded(_ tool: Transcript.ToolDefinition) throws -> JSONValue {
        .fields([
            "type": .text("function"),
            "function": .fields([
                "name": .text(tool.name), "description": .text(tool.description),
                "parameters": try SchemaText.coded(tool.parameters),
            ]),
        ])
    }

    private static func coded(_ format: Transcript.ResponseFormat) throws -> JSONValue {
        .fields([
            "type": .text("jsonSchema"),
            "jsonSchema": .fields([
                "name": .text(format.name), "schema": try SchemaText.coded(format.schema),
            ]),
        ])
    }
}
