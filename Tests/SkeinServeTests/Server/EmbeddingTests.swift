import SkeinInference
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// A tokenizer with more ids than its model has embeddings.
@Suite struct EmbeddingTests {
    @Test("a prompt that needs a missing embedding gets 400, and answers never have such a token")
    func prompts() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var tiny = TinyModel()
            tiny.extraTokens = ["<extra>", "<more>"]
            try tiny.writeGGUF(to: directory + "/tiny.gguf")
            let server = try ServeCase(in: directory) { $0.context = 256 }
            let rows = tiny.vocabularySize
            let refused = [
                try server.complete(#""prompt":"the<extra>""#),
                try server.chat(#""messages":[{"role":"user","content":"<more>"}]"#),
                try server.ask("POST", "/tokenize", #"{"prompt":"<extra>"}"#),
            ]
            for answer in refused {
                #expect(answer.status == 400)
                let message = answer.error["message"] as? String ?? ""
                #expect(
                    message.contains("embeddings for the ids 0 to \(rows - 1) only"),
                    "\(message)")
            }
            #expect(try server.complete(#""prompt":[\#(rows)]"#).status == 400)
            for form in [
                #""temperature":1,"seed":3"#, #""logprobs":2"#, #""guided_regex":"[a-z]{3}""#,
                #""response_format":{"type":"json_object"}"#,
            ] {
                let answer = try server.complete(#""prompt":"the","max_tokens":16,"# + form)
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
    }
}
