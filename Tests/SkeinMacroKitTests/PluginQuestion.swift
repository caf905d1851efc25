import SkeinJSON

@testable import SkeinMacroKit

/// A question as the compiler writes it (Swift 6.3.1), and the plugin's answer to it.
struct PluginQuestion {
    var macro = "GenerableMacro"
    var role: String
    var attribute = "@Generable"
    var declaration: String
    var extendedType = ""
    var conformance: String?
    var surroundings: [String] = []
    var offset = 0
    /// Where the attribute stands, if not at the declaration's beginning.
    var attributeOffset: Int?

    var message: JSONValue {
        let reference = JSONValue.fields([
            ("moduleName", .text("SkeinMacros")), ("name", .text(macro)),
            ("typeName", .text(macro)),
        ])
        return .fields([
            (
                "expandAttachedMacro",
                .fields([
                    (
                        "attributeSyntax",
                        syntax(attribute, kind: "attribute", at: attributeOffset ?? offset)
                    ),
                    (
                        "conformanceListSyntax",
                        conformance.map { syntax($0, kind: "declaration", at: offset) } ?? .null
                    ),
                    ("declSyntax", syntax(declaration, kind: "declaration", at: offset)),
                    ("discriminator", .text("$s4main3Cat9GenerablefMm_")),
                    ("extendedTypeSyntax", syntax(extendedType, kind: "type", at: offset)),
                    (
                        "lexicalContext",
                        .list(surroundings.map { syntax($0, kind: "declaration", at: offset) })
                    ),
                    ("macro", reference), ("macroRole", .text(role)), ("parentDeclSyntax", .null),
                ])
            )
        ])
    }

    private func syntax(_ source: String, kind: String, at offset: Int) -> JSONValue {
        let location = JSONValue.fields([
            ("column", .integer(1)), ("fileID", .text("main/Cat.swift")),
            ("fileName", .text("/x/Cat.swift")), ("line", .integer(1)),
            ("offset", .integer(offset)),
        ])
        return .fields([
            ("kind", .text(kind)), ("location", location), ("source", .text(source)),
        ])
    }

    var answer: [UInt8] { PluginAnswer.to(message.utf8) }
}

/// The answer to a `PluginQuestion`.
struct PluginReply: Equatable {
    struct Told: Equatable {
        var message: String
        var file: String
        var offset: Int
    }

    struct NoExpansion: Error {
        var answer: JSONValue
    }

    var source: String
    var refusals: [Told]

    init(_ answer: [UInt8]) throws {
        let value = try JSONReader.read(answer, JSONRules(depth: 8))
        let result = value["expandMacroResult"] ?? .null
        guard let source = result["expandedSource"]?.string else {
            throw NoExpansion(answer: value)
        }
        self.source = source
        refusals = (result["diagnostics"]?.list ?? []).map { told in
            Told(
                message: told["message"]?.string ?? "",
                file: told["position"]?["fileName"]?.string ?? "",
                offset: told["position"]?["offset"]?.integer ?? -1)
        }
    }
}
