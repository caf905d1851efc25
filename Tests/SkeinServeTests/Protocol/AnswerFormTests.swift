import Foundation
import SkeinInference
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// What an answer must be, under all names that clients have for it.
@Suite struct AnswerFormTests {
    private static let user = #""messages":[{"role":"user","content":"a"}],"max_tokens":120"#
    private static let schema =
        #"{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"],"#
        + #""additionalProperties":false}"#

    private static func isValue(_ text: String) -> Bool {
        [#"{"a":true}"#, #"{"a":false}"#, #"{"a": true}"#, #"{"a": false}"#].contains(text)
    }

    @Test("a schema is held under every name that vLLM, OpenAI and llama-server have for it")
    func schemas() throws {
        try ServeCase.run { server in
            let text = try #require(
                String(data: JSONEncoder().encode(Self.schema), encoding: .utf8))
            for field in [
                #""response_format":{"type":"json_schema","json_schema":{"name":"s","schema":\#(Self.schema)}}"#,
                #""response_format":{"type":"json_schema","schema":\#(Self.schema)}"#,
                #""response_format":{"type":"json_object","schema":\#(Self.schema)}"#,
                #""structured_outputs":{"json":\#(Self.schema)}"#,
                #""structured_outputs":{"json":\#(text),"disable_any_whitespace":false}"#,
                #""guided_json":\#(text)"#, #""json_schema":\#(Self.schema)"#,
                #""structured_outputs":{"json":\#(Self.schema),"json_object":false}"#,
            ] {
                let answer = try server.chat(Self.user + "," + field)
                #expect(Self.isValue(answer.content), "\(field): \(answer.text)")
                #expect(answer.finish == "stop")
            }
            let object = try server.chat(
                Self.user + #","structured_outputs":{"json_object":true}"#)
            #expect(object.content.hasPrefix("{") && object.content.hasSuffix("}"))
        }
    }

    @Test("a form that cannot be held, or two forms, are refused by the place of the field")
    func refused() throws {
        try ServeCase.run { server in
            let forms: [(field: String, param: String)] = [
                (#""structured_outputs":{"grammar":"root ::= a"}"#, "structured_outputs.grammar"),
                (
                    #""structured_outputs":{"structural_tag":"{}"}"#,
                    "structured_outputs.structural_tag"
                ),
                (
                    #""structured_outputs":{"json":{},"whitespace_pattern":" "}"#,
                    "structured_outputs.whitespace_pattern"
                ),
                (
                    #""structured_outputs":{"json":{},"disable_any_whitespace":true}"#,
                    "structured_outputs.disable_any_whitespace"
                ),
                (
                    #""structured_outputs":{"json":{},"disable_additional_properties":true}"#,
                    "structured_outputs.disable_additional_properties"
                ),
                (
                    #""structured_outputs":{"json":{},"json_object":true}"#,
                    "structured_outputs.json_object"
                ),
                (#""guided_json":{},"json_schema":{}"#, "json_schema"),
                (#""response_format":{"type":"json_object"},"guided_regex":"a""#, "guided_regex"),
                (#""response_format":{"type":"grammar","grammar":"a"}"#, "response_format.type"),
                (
                    #""response_format":{"type":"json_object","schema":{"type":7}}"#,
                    "response_format.schema"
                ),
            ]
            for (field, param) in forms {
                let answer = try server.chat(Self.user + "," + field)
                #expect(answer.status == 400, "\(field): \(answer.text)")
                #expect(answer.error["param"] as? String == param, "\(field): \(answer.text)")
            }
            #expect(server.computedTokens == 0)
        }
    }

    @Test("tools beside a form: a call, or else a value; nothing of what begins no call is told")
    func toolsAndForm() throws {
        try ServeCase.run { server in
            let tool =
                #"{"type":"function","function":{"name":"f","parameters":{"type":"object","#
                + #""properties":{},"additionalProperties":false}}}"#
            let both =
                Self.user + #","tools":[\#(tool)],"response_format":{"type":"json_schema","#
                + #""json_schema":{"name":"s","schema":\#(Self.schema)}}"#
            // A model of random weights begins no call.
            for seed in 0..<4 {
                let answer = try server.chat(both + #","seed":\#(seed)"#)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(Self.isValue(answer.content), "\(answer.text)")
                #expect(answer.finish == "stop")
            }
            // It is what the same request without tools' calls gets, told in pieces, too.
            let chunks = try #require(
                try server.stream("/v1/chat/completions", both + #","seed":1,"n":2"#))
            var texts = ["", ""]
            for chunk in chunks {
                let choice = try #require((chunk["choices"] as? [[String: Any]])?.first)
                let delta = try #require(choice["delta"] as? [String: Any])
                let index = try #require(choice["index"] as? Int)
                texts[index] += delta["content"] as? String ?? ""
            }
            #expect(texts.allSatisfy(Self.isValue), "\(texts)")
            // A call that must come leaves no room for a value.
            let forced = try server.chat(both + #","tool_choice":"required""#)
            #expect(forced.finish == "tool_calls", "\(forced.text)")
            let value = try server.chat(both + #","tool_choice":"none","seed":1"#)
            #expect(Self.isValue(value.content))
            #expect(try server.leftovers().isEmpty)
        }
    }

    @Test("tools that are allowed are the only ones that are called")
    func allowedTools() throws {
        try ServeCase.run {
            $0.context = 2048
        } with: { server in
            func tool(_ name: String) -> String {
                #"{"type":"function","function":{"name":"\#(name)","parameters":{"type":"object","#
                    + #""properties":{},"additionalProperties":false}}}"#
            }
            let tools = Self.user + #","tools":[\#(tool("f")),\#(tool("g"))]"#
            func choice(_ names: String...) -> String {
                let list = names.map { #"{"type":"function","function":{"name":"\#($0)"}}"# }
                return
                    #","tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","#
                    + #""tools":[\#(list.joined(separator: ","))]}}"#
            }
            for seed in 0..<4 {
                let answer = try server.chat(tools + choice("g") + #","seed":\#(seed)"#)
                let message = answer.choices.first?["message"] as? [String: Any]
                let calls = message?["tool_calls"] as? [[String: Any]] ?? []
                #expect(
                    Set(calls.map { ($0["function"] as? [String: Any])?["name"] as? String ?? "" })
                        == ["g"], "\(tools) \(answer.text)")
            }
            for (bad, param) in [
                (choice("h"), "tool_choice.allowed_tools.tools[0].function.name"),
                (
                    #","tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"some","tools":[]}}"#,
                    "tool_choice.allowed_tools.mode"
                ),
                (
                    #","tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}"#,
                    "tool_choice.allowed_tools.tools"
                ),
                (#","tool_choice":{"type":"allowed_tools"}"#, "tool_choice.allowed_tools"),
            ] {
                let answer = try server.chat(tools + bad)
                #expect(answer.status == 400 && answer.error["param"] as? String == param)
            }
        }
    }

    @Test("what of a schema cannot be held is left out and named, or refused where it is strict")
    func lenient() throws {
        try ServeCase.run {
            $0.context = 2048
        } with: { server in
            // `not` cannot be held; `format` is an annotation where it is not known.
            let schema =
                #"{"type":"object","properties":{"a":{"type":"boolean","not":{"const":true}},"#
                + #""b, c":{"type":"string","maxLength":3,"format":"colour"}},"#
                + #""required":["a","b, c"],"additionalProperties":false}"#
            func format(strict: Bool) -> String {
                Self.user + #","response_format":{"type":"json_schema","json_schema":{"name":"s","#
                    + #""strict":\#(strict),"schema":\#(schema)}}"#
            }
            let answer = try server.chat(format(strict: false))
            #expect(answer.status == 200, "\(answer.text)")
            let value = try JSONSerialization.jsonObject(with: Data(answer.content.utf8))
            #expect((value as? [String: Any])?["a"] is Bool)
            let dropped = try #require(answer.headers["x-skein-dropped"])
            #expect(dropped.contains("response_format.json_schema.schema#/properties/a/not"))
            let refused = try server.chat(format(strict: true))
            #expect(refused.status == 400)
            #expect(
                refused.error["param"] as? String == "response_format.json_schema.schema",
                "\(refused.text)")
            func tools(strict: Bool) -> String {
                Self.user + #","tool_choice":"required","tools":[{"type":"function","function":"#
                    + #"{"name":"f","strict":\#(strict),"parameters":\#(schema)}},{"type":"function","#
                    + #""function":{"name":"g"}}]"#
            }
            let called = try server.chat(tools(strict: false))
            #expect(called.finish == "tool_calls", "\(called.text)")
            #expect(
                called.headers["x-skein-dropped"]?.contains(
                    "tools[0].function.parameters#/properties/a/not") == true,
                "\(called.headers)")
            let strict = try server.chat(tools(strict: true))
            #expect(strict.status == 400, "\(strict.text)")
            #expect(strict.error["param"] as? String == "tools[0].function.parameters")
            // A stream names it, too.
            let client = try server.client()
            try server.send(
                "POST", "/v1/chat/completions", "{\"stream\":true,\(format(strict: false))}",
                to: client)
            #expect(try client.response()?.headers["x-skein-dropped"] == dropped)
        }
    }

    @Test("the header that names what is left out is short, and has visible ASCII alone")
    func header() {
        var dropped = DroppedParts()
        #expect(dropped.header == nil)
        dropped.places = ["a#/ü, b\r\n", String(repeating: "x", count: 2000), "c", "d"]
        dropped.count = 4
        #expect(dropped.header?.value == "a#/%C3%BC%2C%20b%0D%0A, and 3 more")
        dropped.places.removeFirst()
        #expect(dropped.header?.value == "4 parts")
        dropped = DroppedParts(places: ["c"], count: 1)
        #expect(dropped.header?.value == "c")
    }
}
