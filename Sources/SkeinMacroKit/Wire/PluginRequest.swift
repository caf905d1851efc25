import SkeinJSON

/// What the compiler asks (protocol version 7; swift-syntax, `HostToPluginMessage`).
enum PluginRequest {
    /// Which version of the protocol the plugin speaks.
    case capability
    /// What an attribute on a declaration expands to.
    case attached(AttachedRequest)
    /// A library that holds macros; there is none here.
    case library
    /// Whatever else a compiler may ask, by its name.
    case other(String)

    init(_ message: JSONValue) {
        guard case .object(let fields) = message, let field = fields.first else {
            self = .other("")
            return
        }
        switch field.name {
        case "getCapability": self = .capability
        case "expandAttachedMacro": self = .attached(AttachedRequest(field.value))
        case "loadPluginLibrary": self = .library
        default: self = .other(field.name)
        }
    }
}

/// One attribute on one declaration, in one of the roles of its macro.
struct AttachedRequest {
    /// The type that `#externalMacro(module:type:)` names: `GenerableMacro` or `GuideMacro`.
    var macro = ""
    /// `member`, `peer`, `extension`, ...
    var role = ""
    /// The attribute as it is written, with its arguments.
    var attribute = ""
    /// The declaration as it is written.
    var declaration = ""
    /// The type as an extension outside of everything names it.
    var extendedType = ""
    /// The conformances that the extension is to add: empty if the type has them.
    var conformances = ""
    /// The declarations around this one, the nearest first, without their members.
    var surroundings: [String] = []
    /// The compiler's name of the user's file.
    var file = ""
    /// Where the declaration starts in it, in bytes.
    var offset = 0
    /// Where the attribute starts in it, in bytes.
    var attributeOffset = 0
}

extension AttachedRequest {
    init(_ message: JSONValue) {
        macro = message["macro"]?["typeName"]?.string ?? ""
        role = message["macroRole"]?.string ?? ""
        attribute = Self.source(message["attributeSyntax"])
        declaration = Self.source(message["declSyntax"])
        extendedType = Self.source(message["extendedTypeSyntax"])
        conformances = Self.source(message["conformanceListSyntax"])
        surroundings = (message["lexicalContext"]?.list ?? []).map(Self.source)
        file = message["declSyntax"]?["location"]?["fileName"]?.string ?? ""
        offset = Self.offset(message["declSyntax"])
        attributeOffset = Self.offset(message["attributeSyntax"])
    }

    private static func source(_ syntax: JSONValue?) -> String { syntax?["source"]?.string ?? "" }

    private static func offset(_ syntax: JSONValue?) -> Int {
        syntax?["location"]?["offset"]?.integer ?? 0
    }
}
