import Foundation
import SkeinInference
import SkeinJSON
import SkeinText
import Testing

@testable import SkeinSessions

@Suite("Sessions")
struct SessionTests {
    private typealias GenerationError = LanguageModelSession.GenerationError

    private func session(
        _ source: ScriptedSource, tools: [any SkeinSessions.Tool] = [], instructions: String? = nil
    ) -> LanguageModelSession {
        LanguageModelSession(
            model: SystemLanguageModel(script: source), tools: tools, instructions: instructions)
    }

    @Test("A reply is text, and the transcript has prompt and reply")
    func text() async throws {
        let source = ScriptedSource(saying: "Hello there", "Again")
        let session = session(source, instructions: "Be brief.")
        let first = try await session.respond(to: "Hi")
        #expect(first.content == "Hello there")
        #expect(first.rawContent.jsonString == #""Hello there""#)
        #expect(first.usage.output.totalTokenCount == 2)
        #expect(first.usage.metadata.tokenTimes.count == 2)
        #expect(first.transcriptEntries.count == 2)
        #expect(try await session.respond(to: "And?").content == "Again")
        #expect(
            session.transcript.description
                == """
                (Instructions) Be brief.
                (Prompt) Hi
                (Response) Hello there
                (Prompt) And?
                (Response) Again
                """)
        #expect(session.usage.output.totalTokenCount == 3)
        #expect(!session.isResponding)
        let asked = try #require(source.asked.last)
        #expect(asked.messages.map(\.role) == ["system", "user", "assistant", "user"])
    }

    @Test("A second request is refused at once and disturbs nothing")
    func concurrent() async throws {
        let gate = Gate()
        let source = ScriptedSource { _, _ in [.text("a"), .gate(gate), .text("b")] }
        let session = session(source)
        async let first = session.respond(to: "one")
        await gate.arrival()
        #expect(session.isResponding)
        await #expect {
            try await session.respond(to: "two")
        } throws: { error in
            if case GenerationError.concurrentRequests = error { true } else { false }
        }
        let stream = session.streamResponse(to: "three")
        await #expect {
            try await stream.collect()
        } throws: { error in
            if case GenerationError.concurrentRequests = error { true } else { false }
        }
        #expect(session.isResponding)
        gate.open()
        #expect(try await first.content == "ab")
        #expect(session.transcript.count == 2)
        #expect(!session.isResponding)
    }

    @Test("A cancelled request leaves its prompt and no reply, and the session goes on")
    func cancelled() async throws {
        let gate = Gate()
        let source = ScriptedSource { _, number in
            number == 0 ? [.text("a"), .gate(gate), .text("b")] : [.text("c")]
        }
        let session = session(source)
        let task = Task { try await session.respond(to: "one") }
        await gate.arrival()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(session.transcript.description == "(Prompt) one")
        #expect(!session.isResponding)
        #expect(try await session.respond(to: "two").content == "c")
        #expect(session.transcript.count == 3)
    }

    @Test("After an error the transcript is what it was")
    func failed() async throws {
        let source = ScriptedSource { _, number in
            number == 0
                ? [.text("a"), .fail(ReplyFailure.promptTooLong(tokens: 4097, limit: 4096))]
                : [.text("c")]
        }
        let session = session(source, instructions: "i")
        do {
            try await session.respond(to: "one")
            Issue.record("it should have failed")
        } catch GenerationError.exceededContextWindowSize(let context) {
            #expect(context.limit == 4096)
            #expect(context.count == 4097)
            #expect(context.debugDescription.contains("4097 tokens"))
        }
        #expect(session.transcript.count == 1)
        #expect(try await session.respond(to: "two").content == "c")
    }

    @Test("Options out of their range are errors, not guesses")
    func options() async throws {
        let session = session(ScriptedSource(saying: "a"))
        let wrong = [
            GenerationOptions(temperature: -1), GenerationOptions(temperature: .nan),
            GenerationOptions(samplingMode: .random(top: 0)),
            GenerationOptions(samplingMode: .random(probabilityThreshold: 0)),
            GenerationOptions(samplingMode: .random(probabilityThreshold: 1.5)),
            GenerationOptions(maximumResponseTokens: 0),
        ]
        for options in wrong {
            await #expect(throws: OptionsError.self) {
                try await session.respond(to: "one", options: options)
            }
        }
        #expect(session.transcript.isEmpty)
        #expect(!session.isResponding)
    }

    @Test(
        "A structure is stored as structure; a value that was cut short is an error unless it may close"
    )
    func structure() async throws {
        let source = ScriptedSource { _, number in
            [.text(#"{"name": "#), .text(#""Ada","age":36}"#)] + (number > 0 ? [.cutShort] : [])
        }
        let session = session(source)
        let first = try await session.respond(to: "Who?", generating: Person.self)
        #expect(first.content == Person(name: "Ada", age: 36))
        #expect(!first.wasClosedEarly)
        guard case .response(let response)? = session.transcript.last,
            case .structure(let segment)? = response.segments.first
        else { return #expect(Bool(false), "no structure in the transcript") }
        #expect(segment.source == "Person")
        #expect(segment.content == first.rawContent)
        do {
            try await session.respond(
                to: "Who?", generating: Person.self,
                options: GenerationOptions(maximumResponseTokens: 7))
            Issue.record("it should have failed")
        } catch GenerationError.exceededContextWindowSize(let context) {
            #expect(context.debugDescription.contains("closesAtLimit"))
        }
        #expect(session.transcript.count == 2)
        let closed = try await session.respond(
            to: "Who?", generating: Person.self,
            options: GenerationOptions(maximumResponseTokens: 7, closesAtLimit: true))
        #expect(closed.wasClosedEarly)
        #expect(closed.content.name == "Ada")
    }

    @Test("The schema is in the prompt, or not")
    func schemaInPrompt() async throws {
        let source = ScriptedSource(saying: #"{"name":"Ada","age":36}"#)
        for includes in [true, false] {
            let session = session(source)
            try await session.respond(
                to: "Who?", generating: Person.self, includeSchemaInPrompt: includes)
            let text = source.asked.last?.messages.last?["content"]?.string ?? ""
            #expect(text == (includes ? "Who?\n\nGive {name, age} as JSON." : "Who?"))
            #expect(source.asked.last?.isSchema == true)
        }
    }

    @Test(
        "A text that fills the window is an error with the counts; one of the asked-for length is not"
    )
    func cutShort() async throws {
        let source = ScriptedSource(contextSize: 100) { _, _ in [.text("a"), .cutShort] }
        let session = session(source)
        await #expect {
            try await session.respond(to: "one")
        } throws: { error in
            guard case GenerationError.exceededContextWindowSize(let context) = error else {
                return false
            }
            return context.limit == 100
        }
        let short = try await session.respond(
            to: "one", options: GenerationOptions(maximumResponseTokens: 1))
        #expect(short.content == "a")
    }

    @Test("A session from a transcript asks what the one that wrote it would")
    func rehydrated() async throws {
        let source = ScriptedSource(saying: "a", #"{"name":"Ada","age":36}"#, "b")
        let first = session(source, instructions: "Be brief.")
        try await first.respond(to: "one")
        try await first.respond(to: "two", generating: Person.self)
        let saved = try JSONEncoder().encode(first.transcript)
        let read = try JSONDecoder().decode(Transcript.self, from: saved)
        let second = LanguageModelSession(
            model: SystemLanguageModel(script: source), transcript: read)
        try await first.respond(to: "three")
        try await second.respond(to: "three")
        let asked = source.asked
        #expect(asked[2].messages == asked[3].messages)
    }

    @Test("A transcript that ends in an open call makes requests fail")
    func openCall() async throws {
        let transcript = Transcript(entries: [
            .prompt(.init(segments: [.text(.init(content: "q"))])),
            .toolCalls(
                .init([
                    .init(
                        id: "c", toolName: "t", arguments: GeneratedContent(properties: [:]))
                ])),
        ])
        let session = LanguageModelSession(
            model: SystemLanguageModel(script: ScriptedSource(saying: "a")),
            transcript: transcript)
        await #expect(throws: TranscriptError.self) { try await session.respond(to: "one") }
        #expect(!session.isResponding)
    }

    /// A type whose initialiser refuses what its schema allows.
    private struct Picky: Generable {
        init(_ content: GeneratedContent) throws {
            throw GeneratedContentError.missingProperty(path: "")
        }

        static var generationSchema: GenerationSchema {
            GenerationSchema(
                type: Picky.self,
                properties: [GenerationSchema.Property(name: "a", type: Int.self)])
        }

        var generatedContent: GeneratedContent { GeneratedContent(properties: [:]) }
    }

    @Test("A reply that the type refuses leaves nothing in the transcript")
    func refusedByType() async throws {
        let session = session(ScriptedSource(saying: #"{"a":1}"#))
        await #expect {
            try await session.respond(to: "q", generating: Picky.self)
        } throws: { error in
            if case GenerationError.decodingFailure = error { true } else { false }
        }
        await #expect(throws: GenerationError.self) {
            try await session.streamResponse(to: "q", generating: Picky.self).collect()
        }
        #expect(session.transcript.isEmpty)
    }

    @Test("A model for tagging answers text requests with tags as JSON text, streams included")
    func tagging() async throws {
        let source = ScriptedSource(saying: #"{"tags":["rain","sun"]}"#)
        let model = SystemLanguageModel(script: source, useCase: .contentTagging)
        let session = LanguageModelSession(model: model)
        #expect(try await session.respond(to: "q").content == #"{"tags":["rain","sun"]}"#)
        #expect(source.asked.last?.isSchema == true)
        let stream = session.streamResponse(to: "q")
        #expect(try await stream.collect().content == #"{"tags":["rain","sun"]}"#)
        guard case .response(let response)? = session.transcript.last,
            case .structure? = response.segments.first
        else { return #expect(Bool(false), "no structure in the transcript") }
    }

    @Test("Cancelling the task that collects ends the request")
    func cancelledCollect() async throws {
        let gate = Gate()
        let session = session(ScriptedSource { _, _ in [.gate(gate), .text("a")] })
        let stream = session.streamResponse(to: "q")
        let task = Task { try await stream.collect() }
        await gate.arrival()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: CancellationError.self) { try await stream.collect() }
        #expect(!session.isResponding)
    }
}

/// A structure that conforms by hand.
struct Person: Generable, Equatable {
    var name: String
    var age: Int

    init(name: String, age: Int) {
        self.name = name
        self.age = age
    }

    init(_ content: GeneratedContent) throws {
        name = try content.value(forProperty: "name")
        age = try content.value(forProperty: "age")
    }

    static var generationSchema: GenerationSchema {
        GenerationSchema(
            type: Person.self,
            properties: [
                GenerationSchema.Property(name: "name", type: String.self),
                GenerationSchema.Property(name: "age", type: Int.self),
            ])
    }

    var generatedContent: GeneratedContent {
        GeneratedContent(properties: ["name": name, "age": age])
    }

    /// Both may be missing still.
    struct PartiallyGenerated: ConvertibleFromGeneratedContent {
        var name: String?
        var age: Int?

        init(_ content: GeneratedContent) throws {
            name = try content.value(forProperty: "name")
            age = try content.value(forProperty: "age")
        }

        init(name: String?, age: Int?) {
            self.name = name
            self.age = age
        }
    }

    func asPartiallyGenerated() -> PartiallyGenerated {
        PartiallyGenerated(name: name, age: age)
    }
}
