import SkeinBasics
import SkeinJSON

extension ToolProblem: Explained {
    package var explanation: Explanation {
        let (what, remedy) = words
        return Explanation(what: what, place: path, remedy: remedy, status: .badData)
    }

    private var words: (what: String, remedy: String) {
        switch flaw {
        case .missing(let expected): ("a field is missing", "give \(expected)")
        case .wrongType(let expected): ("a field is not \(expected)", "make it \(expected)")
        case .notAFunction(let found):
            ("tools of type \(Self.cut(found)) are not supported", #"use "type": "function""#)
        case .badName:
            (
                "a tool's name is not 1 to \(ToolLimits.nameBytes) letters, digits, _ or -",
                "rename the tool"
            )
        case .repeatedName(let name, let first):
            (
                "two tools have the name \(Self.cut(name)); the other one is tools[\(first)]",
                "rename one of them"
            )
        case .tooMany(let found, let limit):
            ("there are \(found), and the limit is \(limit)", "send fewer")
        case .tooLarge(let limit):
            ("the tools have more than \(limit) bytes", "send fewer, or shorten them")
        case .tooDeep(let limit):
            ("JSON is nested more than \(limit) deep", "use $ref and $defs")
        case .notAnObjectSchema:
            (
                "a tool's parameters are not the schema of an object",
                #"use {"type": "object", "properties": {...}}"#
            )
        case .cannotBeEnforced(let reason):
            (reason.located, "\(reason.remedy), or leave out \"strict\"")
        case .unknownTool(let name):
            ("no tool has the name \(Self.cut(name))", "name one of tools")
        case .unknownChoice(let found):
            (
                "\(Self.cut(found)) is not a choice of tools",
                #"use "none", "auto", "required", {"type": "function", "function": {"name": ...}} or "#
                    + #"{"type": "allowed_tools", ...}"#
            )
        case .noTools: ("a call is required, and there are no tools", "send tools")
        case .badArguments:
            ("a call's arguments are not the JSON text of an object", "send them as they came")
        case .doesNotFit(let needed?, let limit):
            (
                "the shortest call takes \(needed) tokens, and the limit is \(limit)",
                "allow more tokens"
            )
        case .doesNotFit(nil, let limit):
            ("no call can be written with \(limit) tokens", "allow more tokens")
        case .cannotBeWritten(let text):
            (
                "the model's tokens cannot spell \(Self.cut(text)), which a call needs",
                #"use "tool_choice": "none""#
            )
        }
    }

    /// A client's text in quotes, cut where it is long.
    private static func cut(_ text: String) -> String {
        JSONValue.quoted(text.utf8.count <= 200 ? text : text.prefix(200) + "...")
    }
}
