import Foundation
import SkeinInference
import SkeinJSON
import SkeinSessions
import SkeinTestSupport
import Testing

@testable import SkeinServe

@Suite("Sessions are the server's peers")
struct SessionPeerTests {
    /// The library's sessions and `skein serve` have one engine, one cache and one way to make prompts.
    @Test("Twenty turns in a session and over HTTP have the same tokens")
    func twentyTurns() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let server = try ServeCase(in: directory) { options in
                options.context = 8192
                options.cacheBytes = 64 << 20
            }
            var resources = SystemLanguageModel.Resources()
            resources.contextSize = 8192
            resources.threads = 1
            resources.prefixCacheBytes = 16 << 20
            let session = LanguageModelSession(
                model: SystemLanguageModel(
                    model: URL(filePath: directory + "/tiny.gguf"), resources: resources),
                instructions: "You are kind.")
            var messages: [[String: String]] = [["role": "system", "content": "You are kind."]]
            var cached = 0
            for turn in 0..<20 {
                let question = "question \(turn), asked once more"
                let reply = try await session.respond(
                    to: question,
                    options: GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 12))
                messages.append(["role": "user", "content": question])
                let body = try JSONSerialization.data(
                    withJSONObject: [
                        "messages": messages, "temperature": 0, "max_tokens": 12,
                    ] as [String: Any])
                let answer = try server.ask(
                    "POST", "/v1/chat/completions", String(decoding: body, as: UTF8.self))
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.content == reply.content, "turn \(turn)")
                #expect(
                    answer.usage["prompt_tokens"] as? Int == reply.usage.input.totalTokenCount,
                    "turn \(turn)")
                #expect(
                    answer.usage["completion_tokens"] as? Int == reply.usage.output.totalTokenCount)
                messages.append(["role": "assistant", "content": answer.content])
                cached += reply.usage.input.cachedTokenCount
            }
            #expect(cached > 1000)
        }
    }
}
