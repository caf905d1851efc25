import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// Conversations whose prompt ends within the last message, or behind a turn.
@Suite struct ContinuedChatTests {
    private static func turns(_ last: String) -> String {
        #""messages":[{"role":"user","content":"Say it."},"# + last + "]"
    }
    private static let begun = turns(#"{"role":"assistant","content":"It is "}"#)
    private static let ends = #","max_tokens":4,"temperature":0,"ignore_eos":true"#

    /// The tokens of a conversation, and those of a text that is not to begin a text.
    private static func tokens(_ server: ServeCase, _ fields: String) throws -> [Int] {
        let answer = try server.ask("POST", "/tokenize", "{\(fields)}")
        return answer.json["tokens"] as? [Int] ?? []
    }

    private static func tokens(_ server: ServeCase, text: String) throws -> [Int] {
        try tokens(server, #""prompt":"\#(text)","add_special_tokens":false"#)
    }

    @Test("the answer continues the last message, under vLLM's name and as DeepSeek has it")
    func continues() throws {
        try ServeCase.run { server in
            let prompt =
                #"<|im_start|>user\nSay it.<|im_end|>\n<|im_start|>assistant\nIt is "#
            let wanted = try Self.tokens(server, text: prompt)
            let continued = Self.begun + #","continue_final_message":true"#
            #expect(try Self.tokens(server, continued) == wanted)
            let prefix = Self.turns(#"{"role":"assistant","content":"It is ","prefix":true}"#)
            #expect(try Self.tokens(server, prefix) == wanted)
            // It is what /v1/completions makes of the same tokens.
            let text = try server.complete(#""prompt":\#(wanted)"# + Self.ends).texts
            #expect(try [server.chat(continued + Self.ends).content] == text)
            #expect(try [server.chat(prefix + Self.ends).content] == text)
            // With its beginning, if that is asked for.
            let echoed = try server.chat(continued + Self.ends + #","echo":true"#)
            #expect(echoed.content == "It is " + text[0])
            let chunks = try #require(
                try server.stream(
                    "/v1/chat/completions", continued + Self.ends + #","echo":true"#))
            let pieces = chunks.compactMap { chunk in
                ((chunk["choices"] as? [[String: Any]])?.first?["delta"] as? [String: Any])?[
                    "content"] as? String
            }
            #expect(pieces.joined() == "It is " + text[0])
        }
    }

    @Test("without a beginning of an answer the prompt ends behind the last turn")
    func turn() throws {
        try ServeCase.run { server in
            let prompt =
                #"<|im_start|>user\nSay it.<|im_end|>\n<|im_start|>assistant\nIt is <|im_end|>\n"#
            let plain = Self.begun + #","add_generation_prompt":false"#
            #expect(try Self.tokens(server, plain) == Self.tokens(server, text: prompt))
            let text = try server.complete(
                #""prompt":\#(Self.tokens(server, text: prompt))"# + Self.ends
            ).texts
            #expect(try [server.chat(plain + Self.ends).content] == text)
            // As it was: a new answer.
            #expect(
                try Self.tokens(server, Self.begun)
                    == Self.tokens(server, text: prompt + #"<|im_start|>assistant\n"#))
        }
    }

    @Test("what cannot be continued is refused, and the field is named")
    func refused() throws {
        try ServeCase.run { server in
            let continues = #","continue_final_message":true"#
            let call =
                #"{"role":"assistant","content":"a","tool_calls":[{"id":"1","type":"function","#
                + #""function":{"name":"f","arguments":"{}"}}]}"#
            for (fields, param) in [
                (
                    Self.turns(#"{"role":"user","content":"a"}"#) + continues,
                    "continue_final_message"
                ),
                (Self.turns(call) + continues, "continue_final_message"),
                (
                    Self.begun + continues + #","add_generation_prompt":true"#,
                    "add_generation_prompt"
                ),
                (Self.begun + #","continue_final_message":1"#, "continue_final_message"),
                (Self.turns(#"{"role":"assistant","content":""}"#) + continues, "messages"),
            ] {
                let answer = try server.chat(fields)
                #expect(answer.status == 400, "\(fields): \(answer.text)")
                #expect(answer.error["param"] as? String == param, "\(fields): \(answer.text)")
            }
            #expect(server.computedTokens == 0)
        }
    }
}
