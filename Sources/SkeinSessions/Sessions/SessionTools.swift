import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinText

/// A session's tools under names that models can write.
struct SessionTools: Sendable {
    /// As the engine takes them, in the session's order.
    let definitions: [SkeinText.Tool]
    /// What transcripts call them.
    let entries: [Transcript.ToolDefinition]
    private let tools: [any Tool]
    private let names: [String: Int]

    var isEmpty: Bool { tools.isEmpty }

    /// - Throws: `ToolError` for two tools of one name, or one whose arguments are no object;
    ///   `GenerationSchema.SchemaError`.
    init(_ tools: [any Tool]) throws {
        try tools.check()
        self.tools = tools
        entries = tools.map { Transcript.ToolDefinition(tool: $0) }
        let written = Self.written(tools.map(\.name))
        names = Dictionary(uniqueKeysWithValues: zip(written, tools.indices))
        definitions = try Self.definitions(entries, names: written)
    }

    /// Tools as a transcript has them; none of them can be called.
    init(definitions entries: [Transcript.ToolDefinition]) throws {
        self.entries = entries
        tools = []
        names = [:]
        definitions = try Self.definitions(entries, names: Self.written(entries.map(\.name)))
    }

    /// The tool that the model calls by a name that it was told.
    func tool(written name: String) -> (any Tool)? { names[name].map { tools[$0] } }

    /// As the engine takes them, those that a transcript's instructions list.
    func definitions(in listed: [Transcript.ToolDefinition]) -> [SkeinText.Tool] {
        let names = Set(listed.map(\.name))
        return zip(entries, definitions).filter { names.contains($0.0.name) }.map(\.1)
    }

    /// What the model is told that a tool is called.
    func writtenName(of name: String) -> String {
        let place = entries.firstIndex { $0.name == name }
        return place.map { definitions[$0].name } ?? Self.written([name])[0]
    }

    private static func definitions(
        _ entries: [Transcript.ToolDefinition], names: [String]
    ) throws -> [SkeinText.Tool] {
        var items: [JSONValue] = []
        for (name, entry) in zip(names, entries) {
            let parameters = try GrammarJSON.read(Array(entry.parameters.jsonText().utf8))
            items.append(
                function([
                    ("name", .text(name)), ("description", .text(entry.description)),
                    ("parameters", parameters), ("strict", .bool(true)),
                ]))
        }
        var tools = try SkeinText.Tool.list(.list(items))
        for index in tools.indices {
            // What models see: whether a schema is enforced is none of their business.
            tools[index].definition = function([
                ("name", .text(tools[index].name)),
                ("description", .text(entries[index].description)),
                ("parameters", tools[index].parameters),
            ])
        }
        return tools
    }

    private static func function(_ fields: [(String, JSONValue)]) -> JSONValue {
        .object([
            JSONField(name: "type", value: .text("function")),
            JSONField(
                name: "function",
                value: .object(fields.map { JSONField(name: $0.0, value: $0.1) })),
        ])
    }

    /// Names of letters, digits, `_` and `-`, at most 64 bytes, each once: grammars and templates need
    /// no escape for them.
    static func written(_ names: [String]) -> [String] {
        var taken: Set<String> = []
        return names.map { name in
            var bytes = name.utf8.prefix(56).map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"):
                    byte
                default: UInt8(ascii: "_")
                }
            }
            if bytes.isEmpty { bytes = Array("tool".utf8) }
            let base = String(decoding: bytes, as: UTF8.self)
            var written = base
            var number = 2
            while !taken.insert(written).inserted {
                written = "\(base)_\(number)"
                number += 1
            }
            return written
        }
    }
}
