import SkeinBasics
import SkeinGrammar
import SkeinJSON
import SkeinText

/// The grammar of one call of any of some tools: its name, then its arguments.
package enum ToolGrammar {
    /// The grammar of calls that have their arguments under `key`.
    ///
    /// What of a schema cannot be enforced is left out, unless it is strict: keywords one by one, or all of
    /// it, where it is contradictory or too large. Then the arguments are any object.
    ///
    /// - Parameters:
    ///   - tools: with their places in the request.
    ///   - key: "arguments" or "parameters".
    ///   - grammars: of the model's vocabulary.
    ///   - isWanted: whether it is still wanted; asked now and then.
    /// - Returns: the grammar of the JSON of one call, and the places in the request of what it leaves
    ///   out, such as `tools[0].function.parameters#/properties/a/not`.
    /// - Throws: `ToolProblem`.
    package static func make(
        _ tools: [(place: Int, tool: Tool)], key: String, _ grammars: GrammarCache,
        isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws(ToolProblem) -> (grammar: CompiledGrammar, dropped: [String]) {
        let mode = mode(of: tools.map(\.tool))
        let strict = tools.filter(\.tool.strict)
        // A grammar that leaves something out of some schemas must leave nothing out of these.
        if mode == .lenient, !strict.isEmpty {
            _ = try make(strict, key: key, grammars, isWanted: isWanted)
        }
        var loose: Set<Int> = []
        while true {
            let error: GrammarError
            do {
                let grammar = try grammars.grammar(
                    form(tools.map(\.tool), key, loose: loose), makesRoom: false,
                    isWanted: isWanted)
                return (grammar, dropped(by: grammar, loose, tools, key))
            } catch let found {
                error = found
            }
            if case .cancelled = error {
                throw ToolProblem(path: "tools", flaw: .cannotBeEnforced(error.explanation))
            }
            let found = tools.indices.lazy.compactMap { index in
                error.seen(from: String(place(index, key).dropFirst())).map { (index, $0) }
            }.first
            if let (index, inner) = found, tools[index].tool.strict || loose.contains(index) {
                throw ToolProblem(
                    path: "tools[\(tools[index].place)].function.parameters",
                    flaw: .cannotBeEnforced(inner.explanation))
            }
            var isLarge = false
            if case .tooLarge = error { isLarge = true }
            if let (index, _) = found, !isLarge, loose.count < ToolLimits.impossibleSchemas {
                loose.insert(index)
                continue
            }
            // Whose fault it is cannot be told, or it takes too long to find out.
            let all = Set(tools.indices.filter { !tools[$0].tool.strict })
            guard !all.isSubset(of: loose) else {
                throw ToolProblem(path: "tools", flaw: .cannotBeEnforced(error.explanation))
            }
            loose.formUnion(all)
        }
    }

    /// What the grammar is compiled of. Keywords are errors where all tools are strict.
    ///
    /// - Parameters:
    ///   - tools: that may be called.
    ///   - key: "arguments" or "parameters".
    ///   - loose: tools whose arguments may be any object.
    /// - Returns: the schema of one call.
    static func form(_ tools: [Tool], _ key: String, loose: Set<Int> = []) -> GrammarForm {
        .schema(Array(schema(tools, key, loose: loose).written.utf8), mode(of: tools))
    }

    private static func mode(of tools: [Tool]) -> SchemaMode {
        tools.allSatisfy(\.strict) ? .strict : .lenient
    }

    /// The places in the request of what a grammar leaves out.
    private static func dropped(
        by grammar: CompiledGrammar, _ loose: Set<Int>, _ tools: [(place: Int, tool: Tool)],
        _ key: String
    ) -> [String] {
        func name(_ index: Int) -> String { "tools[\(tools[index].place)].function.parameters" }
        return loose.sorted().map(name)
            + grammar.dropped.compactMap { keyword in
                tools.indices.lazy.compactMap { index in
                    let start = place(index, key).dropFirst()
                    guard keyword.pointer.hasPrefix(start + "/") else { return nil }
                    return "\(name(index))#\(keyword.pointer.dropFirst(start.count))"
                }.first
            }
    }

    private static func place(_ index: Int, _ key: String) -> String {
        "#/anyOf/\(index)/properties/\(key)"
    }

    private static func schema(_ tools: [Tool], _ key: String, loose: Set<Int>) -> JSONValue {
        func object(_ fields: (String, JSONValue)...) -> JSONValue {
            .object(fields.map { JSONField(name: $0.0, value: $0.1) })
        }
        let calls = tools.enumerated().map { index, tool in
            let schema = ToolSchema(place: place(index, key), anchorPrefix: "tool\(index).")
            return object(
                ("type", .text("object")),
                (
                    "properties",
                    object(
                        ("name", object(("const", .text(tool.name)))),
                        (
                            key,
                            loose.contains(index) ? Tool.anyObject : schema.moved(tool.parameters)
                        ))
                ),
                ("required", .list([.text("name"), .text(key)])),
                ("additionalProperties", .bool(false)))
        }
        return object(("anyOf", .list(calls)))
    }
}
