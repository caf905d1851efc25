import SkeinGrammar
import SkeinJSON
import SkeinText

@testable import SkeinInference

/// Tools, and what a client sends, for tests.
enum TestTools {
    static func json(_ text: String) throws -> JSONValue {
        try GrammarJSON.read(Array(text.utf8))
    }

    static func chat(_ text: String) throws -> JSONValue { try JSONValue(parsing: text.utf8) }

    static let weather = """
        {"type":"function","function":{"name":"get_weather","description":"Weather of a place.",\
        "parameters":{"type":"object","properties":{"place":{"type":"string","maxLength":12},\
        "days":{"type":"integer","minimum":1,"maximum":14}},"required":["place"],\
        "additionalProperties":false}}}
        """
    static let get = """
        {"type":"function","function":{"name":"get","parameters":{"type":"object","properties":\
        {"on":{"type":"boolean"}},"required":["on"],"additionalProperties":false}}}
        """
    static let tree = ##"""
        {"type":"function","function":{"name":"plant-tree_2","parameters":{"type":"object",\##
        "properties":{"root":{"$ref":"#/$defs/node"}},"required":["root"],\##
        "additionalProperties":false,"$defs":{"node":{"type":"object","properties":{"v":\##
        {"enum":["a\"}","\\",7]},"kids":{"type":"array","items":{"$ref":"#/$defs/node"},\##
        "maxItems":2}},"required":["v"],"additionalProperties":false}}}}}
        """##
    static let nothing = #"{"type":"function","function":{"name":"nothing"}}"#

    static func list(_ definitions: String...) throws -> [Tool] {
        try Tool.list(json("[\(definitions.joined(separator: ","))]"))
    }

    static var all: [Tool] { get throws { try list(weather, get, tree, nothing) } }

    /// A loop of two turns, as OpenAI's clients send it.
    static func conversation(calls: Int) throws -> [ChatMessage] {
        let second = #"""
            ,{"id":"call_2","type":"function","function":{"name":"get","arguments":"{\"on\": true}"}}
            """#
        let answer =
            #"{"role":"tool","tool_call_id":"call_2","content":[{"type":"text","text":"yes"}]},"#
        let json = #"""
            [{"role":"user","content":"Weather in Oslo?"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",
            "function":{"name":"get_weather","arguments":"{\"place\": \"Oslo\", \"days\": 2}"}}
            \#(calls > 1 ? second : "")]},
            {"role":"tool","tool_call_id":"call_1","content":"rain"},
            \#(calls > 1 ? answer : "")
            {"role":"assistant","content":"It rains."},{"role":"user","content":"And Rome?"}]
            """#
        guard case .list(let items) = try chat(json) else { return [] }
        return items.map { item in
            guard case .object(let fields) = item else { return ChatMessage(fields: []) }
            return ChatMessage(fields: fields)
        }
    }

    /// Whether arguments satisfy the schema of one of these tools, by a check of their own.
    static func accepts(_ name: String, _ arguments: JSONValue) -> Bool {
        guard let fields = arguments.fields else { return false }
        let names = fields.map(\.name)
        guard Set(names).count == names.count else { return false }
        switch name {
        case "get_weather":
            guard let place = arguments["place"]?.string, place.unicodeScalars.count <= 12,
                names.allSatisfy({ ["place", "days"].contains($0) })
            else { return false }
            guard let days = arguments["days"] else { return true }
            guard case .number(let text) = days, let number = Int(text) else { return false }
            return (1...14).contains(number)
        case "get":
            guard names == ["on"], case .bool = arguments["on"] else { return false }
            return true
        case "plant-tree_2":
            guard names == ["root"], let root = arguments["root"] else { return false }
            return isNode(root)
        case "nothing": return names.isEmpty
        default: return false
        }
    }

    private static func isNode(_ node: JSONValue) -> Bool {
        guard let fields = node.fields,
            fields.allSatisfy({ ["v", "kids"].contains($0.name) })
        else { return false }
        switch node["v"] {
        case .text(let text): guard text == "a\"}" || text == "\\" else { return false }
        case .number("7"): break
        default: return false
        }
        guard let kids = node["kids"] else { return true }
        guard let list = kids.list, list.count <= 2 else { return false }
        return list.allSatisfy(isNode)
    }
}

/// SplitMix64, for tests.
struct TestRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
