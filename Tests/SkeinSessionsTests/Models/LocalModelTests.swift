import Foundation
import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinSessions

/// Sessions with a model of random weights: what it says is noise, but always the same noise.
@Suite("Sessions with a local model")
struct LocalModelTests {
    private typealias GenerationError = LanguageModelSession.GenerationError
    private let short = GenerationOptions(
        samplingMode: .random(top: 50, seed: 7), maximumResponseTokens: 24)

    private func withCase(_ body: (SessionCase) async throws -> Void) async throws {
        try await TestPaths.inTemporaryDirectory { try await body(SessionCase(in: $0)) }
    }

    @Test(
        "The same seed gives the same text; a live session, one from its transcript and a cold one agree"
    )
    func sameTexts() async throws {
        try await withCase { tiny in
            let model = tiny.model()
            func talk(_ session: LanguageModelSession) async throws -> [String] {
                var texts: [String] = []
                for turn in 0..<3 {
                    texts.append(
                        try await session.respond(
                            to: "turn \(turn) of a conversation that goes on and on and on",
                            options: short
                        ).content)
                }
                return texts
            }
            let live = LanguageModelSession(model: model, instructions: "Be brief and polite.")
            let texts = try await talk(live)
            let again = LanguageModelSession(model: model, instructions: "Be brief and polite.")
            #expect(try await talk(again) == texts)
            let next = try await live.respond(to: "one more", options: short)
            #expect(next.usage.input.cachedTokenCount > 0)
            #expect(next.usage.input.cachedTokenCount < next.usage.input.totalTokenCount)
            let saved = again.transcript
            let rehydrated = LanguageModelSession(model: model, transcript: saved)
            #expect(
                try await rehydrated.respond(to: "one more", options: short).content == next.content
            )
            model.unload()
            // Without any cache.
            let cold = LanguageModelSession(
                model: tiny.model { $0.prefixCacheBytes = 0 }, transcript: saved)
            let answer = try await cold.respond(to: "one more", options: short)
            #expect(answer.content == next.content)
            #expect(answer.usage.input.cachedTokenCount == 0)
            #expect(answer.usage.input.totalTokenCount == next.usage.input.totalTokenCount)
        }
    }

    @Test("Streams, collect() and respond() say the same")
    func streams() async throws {
        try await withCase { tiny in
            let model = tiny.model()
            for seed in 0..<8 as Range<UInt64> {
                let options = GenerationOptions(
                    samplingMode: .random(top: 100, seed: seed), maximumResponseTokens: 30)
                let stream = LanguageModelSession(model: model).streamResponse(
                    to: "q", options: options)
                var last = ""
                for try await snapshot in stream {
                    #expect(snapshot.content.utf8.starts(with: last.utf8))
                    last = snapshot.content
                }
                #expect(try await stream.collect().content == last)
                let whole = try await LanguageModelSession(model: model).respond(
                    to: "q", options: options)
                #expect(whole.content == last)
            }
        }
    }

    @Test("A typed reply is a value of its type, or says that the window was too small")
    func typed() async throws {
        try await withCase { tiny in
            let model = tiny.model()
            for seed in 0..<20 as Range<UInt64> {
                let options = GenerationOptions(
                    samplingMode: .random(top: 200, seed: seed), maximumResponseTokens: 200,
                    closesAtLimit: true)
                let session = LanguageModelSession(model: model)
                let reply = try await session.respond(
                    to: "Who?", generating: Person.self, options: options)
                #expect(try Person(reply.rawContent) == reply.content)
            }
        }
    }

    @Test("The schema in the prompt takes exactly its tokenCount")
    func schemaTokens() async throws {
        try await withCase { tiny in
            let model = tiny.model()
            let count = try await model.tokenCount(for: Person.generationSchema)
            #expect(count > 0)
            for prompt in ["Who?", "Who? ", "Who\n", "", "{", "é\u{301}"] {
                var totals: [Bool: Int] = [:]
                for includes in [true, false] {
                    let reply = try await LanguageModelSession(model: model).respond(
                        to: prompt, generating: Person.self, includeSchemaInPrompt: includes,
                        options: GenerationOptions(
                            samplingMode: .greedy, maximumResponseTokens: 200, closesAtLimit: true)
                    )
                    totals[includes] = reply.usage.input.totalTokenCount
                }
                #expect((totals[true] ?? 0) - (totals[false] ?? 0) == count, "\(prompt)")
            }
        }
    }

    @Test("A prompt beyond the window is an error with the counts, and the transcript is unchanged")
    func tooLong() async throws {
        try await withCase { tiny in
            let model = tiny.model { $0.contextSize = 256 }
            #expect(model.contextSize == 256)
            let session = LanguageModelSession(model: model)
            do {
                try await session.respond(to: String(repeating: "word ", count: 400))
                Issue.record("it should have failed")
            } catch GenerationError.exceededContextWindowSize(let context) {
                #expect(context.limit == 256)
                #expect(try #require(context.count) > 256)
            }
            #expect(session.transcript.isEmpty)
            try await session.respond(to: "q", options: short)
        }
    }

    @Test("Adapters on one base answer in turns, each as it would alone")
    func adapters() async throws {
        try await withCase { tiny in
            let base = tiny.model()
            let first = tiny.model(
                adapter: try .init(fileURL: tiny.writeAdapter("a", seed: 1)))
            let second = tiny.model(
                adapter: try .init(fileURL: tiny.writeAdapter("b", seed: 2)))
            func ask(_ model: SystemLanguageModel) async throws -> String {
                try await LanguageModelSession(model: model).respond(to: "q", options: short)
                    .content
            }
            let texts = [try await ask(base), try await ask(first), try await ask(second)]
            #expect(Set(texts).count == 3)
            for _ in 0..<2 {
                for (model, text) in zip([base, first, second], texts) {
                    #expect(try await ask(model) == text)
                }
            }
            // One copy of the weights.
            #expect(try base.slot() === first.slot())
            #expect(try base.slot() === second.slot())
        }
    }

    @Test("An adapter for another base is refused with both hashes; a damaged one at once")
    func wrongAdapters() async throws {
        try await withCase { tiny in
            let other = String(repeating: "ab", count: 32)
            let adapter = try SystemLanguageModel.Adapter(
                fileURL: tiny.writeAdapter("a", seed: 1, base: other))
            do {
                try await LanguageModelSession(model: tiny.model(adapter: adapter)).respond(to: "q")
                Issue.record("it should have failed")
            } catch SystemLanguageModel.Adapter.AssetError.compatibleAdapterNotFound(let context) {
                #expect(context.debugDescription.contains(other))
                #expect(
                    context.debugDescription.contains(
                        tiny.directoryModel.contentDigest().description))
            }
            let damaged = try tiny.writeAdapter("b", seed: 1)
            let file = damaged.appending(path: "adapter_model.safetensors")
            let bytes = try Data(contentsOf: file)
            try bytes.prefix(bytes.count / 2).write(to: file)
            #expect(throws: SystemLanguageModel.Adapter.AssetError.self) {
                try SystemLanguageModel.Adapter(fileURL: damaged)
            }
            #expect(throws: SystemLanguageModel.Adapter.AssetError.self) {
                try SystemLanguageModel.Adapter(fileURL: URL(filePath: tiny.directory + "/none"))
            }
        }
    }

    @Test("A model whose files are replaced while it is loaded is refused until it is unloaded")
    func replaced() async throws {
        try await withCase { tiny in
            let model = tiny.model()
            try await LanguageModelSession(model: model).respond(to: "q", options: short)
            let data = try Data(contentsOf: tiny.url)
            try FileManager.default.removeItem(at: tiny.url)
            #expect(model.availability == .unavailable(.modelNotReady))
            // Files that cannot be looked at are not said to be missing.
            try FileManager.default.createSymbolicLink(
                atPath: tiny.path, withDestinationPath: tiny.path)
            await #expect {
                try await LanguageModelSession(model: model).respond(to: "q", options: short)
            } throws: { error in
                guard case GenerationError.assetsUnavailable(let context) = error else {
                    return false
                }
                return context.debugDescription.contains("cannot look at")
            }
            try FileManager.default.removeItem(at: tiny.url)
            try data.write(to: tiny.url)
            await #expect {
                try await LanguageModelSession(model: model).respond(to: "q", options: short)
            } throws: { error in
                guard case GenerationError.assetsUnavailable(let context) = error else {
                    return false
                }
                return context.debugDescription.contains("replaced")
            }
            model.unload()
            #expect(model.isAvailable)
            try await LanguageModelSession(model: model).respond(to: "q", options: short)
        }
    }

    @Test("Memory that does not suffice is assetsUnavailable with the numbers")
    func memory() async throws {
        try await withCase { tiny in
            let resources = SystemLanguageModel.Resources()
            #expect {
                try HostPlan(
                    tiny.directoryModel, resources.options, for: .program, usable: 1 << 20)
            } throws: { error in
                guard case HostError.memory(let needed, let available)? = error as? HostError else {
                    return false
                }
                return needed > available && available == 1 << 20
            }
        }
    }

    @Test("More requests than wait are refused with a time after which to try again")
    func rateLimited() async throws {
        try await withCase { tiny in
            let model = tiny.model {
                $0.parallelReplies = 1
                $0.waitingRequests = 0
            }
            let loaded = try #require(try await model.source() as? LoadedModel)
            // A request that goes on for as long as the test wants.
            let (_, continuation) = AsyncThrowingStream.makeStream(of: ReplyUpdate.self)
            let held = try loaded.sinks.add(continuation)
            await #expect {
                try await LanguageModelSession(model: model).respond(to: "q")
            } throws: { error in
                guard case GenerationError.rateLimited(let context) = error else { return false }
                return context.limit == 1 && context.retryAfter != nil
            }
            loaded.sinks.remove(held.id)
            try await LanguageModelSession(model: model).respond(to: "q", options: short)
        }
    }

    @Test("Prewarming fills the cache with instructions")
    func prewarm() async throws {
        try await withCase { tiny in
            let model = tiny.model()
            let text = String(repeating: "Be kind and brief. ", count: 40)
            let session = LanguageModelSession(model: model, instructions: text)
            let source = try await model.source()
            let entries = Array(session.transcript)
            try await source.warm(
                TranscriptConversation(entries: entries, tools: nil).value, schemas: [],
                adapter: nil)
            let reply = try await session.respond(to: "q", options: short)
            #expect(reply.usage.input.cachedTokenCount >= 64)
        }
    }

    @Test("A request that is cancelled holds nothing any longer, and the model goes on with others")
    func cancel() async throws {
        try await withCase { tiny in
            let model = tiny.model()
            let session = LanguageModelSession(model: model)
            let stream = session.streamResponse(
                to: "q",
                options: GenerationOptions(
                    samplingMode: .random(top: 100, seed: 3), maximumResponseTokens: 3000))
            for try await _ in stream { break }
            do {
                // It may have ended before it was cancelled.
                _ = try await stream.collect()
                #expect(session.transcript.count == 2)
            } catch is CancellationError {
                #expect(session.transcript.count == 1)
            }
            let loaded = try #require(try await model.source() as? LoadedModel)
            #expect(loaded.sinks.count == 0)
            let reply = try await session.respond(to: "again", options: short)
            #expect(reply.usage.output.totalTokenCount <= 24)
        }
    }

    @Test("A request after a cancelled one renders, whatever the template says of alternation")
    func afterCancellation() async throws {
        try await withCase { tiny in
            for template in ["gemma", "llama3", "mistral", "chatml"] {
                let model = tiny.model { $0.chatTemplate = template }
                let transcript = Transcript(entries: [
                    .prompt(.init(segments: [.text(.init(content: "one"))]))
                ])
                let session = LanguageModelSession(model: model, transcript: transcript)
                let reply = try await session.respond(to: "two", options: short)
                #expect(reply.usage.input.totalTokenCount > 0, "\(template)")
                // A schema adds its own tokens where the template drops spaces, too.
                let count = try await model.tokenCount(for: Person.generationSchema)
                var totals: [Int] = []
                for includes in [true, false] {
                    totals.append(
                        try await LanguageModelSession(model: model).respond(
                            to: "Who?\n", generating: Person.self, includeSchemaInPrompt: includes,
                            options: GenerationOptions(
                                samplingMode: .greedy, maximumResponseTokens: 200,
                                closesAtLimit: true)
                        ).usage.input.totalTokenCount)
                }
                #expect(totals[0] - totals[1] == count, "\(template)")
                model.unload()
            }
        }
    }

    @Test("Resources that are not allowed are an error, not a wait or a crash")
    func badResources() async throws {
        try await withCase { tiny in
            for waiting in [Int.max, .min, -1] {
                let model = tiny.model { $0.waitingRequests = waiting }
                await #expect {
                    try await LanguageModelSession(model: model).respond(to: "q")
                } throws: { error in
                    guard case GenerationError.assetsUnavailable(let context) = error else {
                        return false
                    }
                    return context.debugDescription.contains("waitingRequests")
                }
            }
        }
    }

    @Test("Entries of a transcript are counted one by one, whatever the template demands")
    func entries() async throws {
        try await withCase { tiny in
            for template in ["gemma", "chatml"] {
                let model = tiny.model { $0.chatTemplate = template }
                let session = LanguageModelSession(model: model, instructions: "Be brief.")
                try await session.respond(to: "one", options: short)
                try await session.respond(to: "two", options: short)
                let trimmed = try await session.transcript.trimmed(to: 1 << 20) {
                    try await model.tokenCount(for: [$0])
                }
                #expect(trimmed == session.transcript)
                model.unload()
            }
        }
    }

    @Test("Unloading ends replies and loads with an error; the next request loads again")
    func unload() async throws {
        try await withCase { tiny in
            let model = tiny.model()
            let slot = try model.slot()
            for _ in 0..<5 {
                let task = Task {
                    try await LanguageModelSession(model: model).respond(to: "q", options: short)
                }
                // It has come at least as far as to the model's door.
                try await Deadline.pass { slot.isLoading || slot.loaded != nil }
                model.unload()
                async let next = LanguageModelSession(model: model).respond(
                    to: "q", options: short)
                let result = await task.result
                _ = try await next
                model.unload()
                // It may have been too late.
                if case .failure(let error) = result {
                    guard case GenerationError.assetsUnavailable(let context) = error else {
                        Issue.record("\(error)")
                        continue
                    }
                    #expect(context.debugDescription.contains("unloaded"))
                }
            }
            let reply = try await LanguageModelSession(model: model).respond(
                to: "q", options: short)
            #expect(reply.usage.output.totalTokenCount > 0)
        }
    }
}
