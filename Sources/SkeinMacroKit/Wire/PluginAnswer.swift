import SkeinJSON

/// The answer to each message: a function of its bytes alone.
enum PluginAnswer {
    private static let rules = JSONRules(depth: MacroLimits.jsonDepth, names: .all)

    static func to(_ message: [UInt8]) -> [UInt8] { value(to: message).utf8 }

    /// The answer to any message, or nil to an empty one, which ends the conversation.
    static func reply(to message: PluginWire.Message) -> [UInt8]? {
        switch message {
        case .whole(let bytes): return bytes.isEmpty ? nil : to(bytes)
        case .tooLong:
            let refusal = Refusal(.longMessage, at: 0)
            return expansion("", refused: [refusal], of: AttachedRequest()).utf8
        }
    }

    private static func value(to message: [UInt8]) -> JSONValue {
        // The refusal stands at the attribute; bytes of the compiler's own message say nothing there.
        guard let request = try? JSONReader.read(message, rules) else {
            return expansion("", refused: [Refusal(.unreadMessage, at: 0)], of: AttachedRequest())
        }
        switch PluginRequest(request) {
        case .capability:
            let capability = JSONValue.fields([("protocolVersion", .integer(7))])
            return .fields([("getCapabilityResult", .fields([("capability", capability)]))])
        case .library:
            let loaded = JSONValue.fields([("loaded", .bool(false)), ("diagnostics", .list([]))])
            return .fields([("loadPluginLibraryResult", loaded)])
        case .attached(let request):
            let result = AttachedExpansion.of(request)
            return expansion(result.source, refused: result.refusals, of: request)
        case .other(let name):
            let refusal = Refusal(.unknownRequest(name), at: 0)
            return expansion("", refused: [refusal], of: AttachedRequest())
        }
    }

    /// What the compiler reads as an expansion, with an error at the user's place for each refusal.
    private static func expansion(
        _ source: String, refused: [Refusal], of request: AttachedRequest
    ) -> JSONValue {
        let diagnostics = refused.map { refusal in
            let position = JSONValue.fields([
                ("fileName", .text(request.file)),
                ("offset", .integer(request.offset &+ refusal.offset)),
            ])
            return JSONValue.fields([
                ("message", .text(refusal.explained)), ("severity", .text("error")),
                ("position", position), ("highlights", .list([])), ("notes", .list([])),
                ("fixIts", .list([])),
            ])
        }
        let result = JSONValue.fields([
            ("expandedSource", .text(source)), ("diagnostics", .list(diagnostics)),
        ])
        return .fields([("expandMacroResult", result)])
    }
}
