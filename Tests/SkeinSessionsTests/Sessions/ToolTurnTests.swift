import SkeinInference
import SkeinJSON
import SkeinText
import Synchronization
import Testing

@testable import SkeinSessions

@Suite("Tools in sessions")
struct ToolTurnTests {
    struct CityArguments: Generable {
        var city: String

        init(_ content: GeneratedContent) throws { city = try content.value(forProperty: "city") }

        static var generationSchema: GenerationSchema {
            GenerationSchema(
                type: CityArguments.self,
                properties: [GenerationSchema.Property(name: "city", type: String.self)])
        }

        var generatedContent: GeneratedContent { GeneratedContent(properties: ["city": city]) }
    }

    struct Weather: SkeinSessions.Tool {
        var name = "weather of a city"
        let description = "Tells the weather"
        var body: @Sendable (String) async throws -> String = { "\($0): sunny" }

        func call(arguments: CityArguments) async throws -> String {
            try await body(arguments.city)
        }
    }

    private struct Broken: Error, Equatable {}

    private func session(_ source: ScriptedSource, _ tools: [any SkeinSessions.Tool])
        -> LanguageModelSession
    {
        LanguageModelSession(
            model: SystemLanguageModel(script: source), tools: tools, instructions: "i")
    }

    private func call(_ id: String, _ city: String) -> ScriptedSource.Step {
        .call(id: id, name: "weather_of_a_city", arguments: #"{"city":"\#(city)"}"#)
    }

    @Test("Two calls of one turn give six entries, outputs in the order of the calls")
    func twoCalls() async throws {
        let (rome, oslo) = (call("c1", "Rome"), call("c2", "Oslo"))
        let source = ScriptedSource { _, number in
            number == 0 ? [rome, oslo] : [.text("both sunny")]
        }
        // The first call's output comes last.
        let gate = Gate()
        let tool = Weather { city in
            if city == "Rome" { await gate.wait() } else { gate.open() }
            return "\(city): sunny"
        }
        let session = session(source, [tool])
        let response = try await session.respond(to: "weather?")
        #expect(response.content == "both sunny")
        let lines = session.transcript.description.split(separator: "\n").map(String.init)
        #expect(lines.count == 6)
        #expect(lines[0] == "(Instructions) i [tools: weather of a city]")
        #expect(lines[3] == "(Tool output) weather of a city: Rome: sunny")
        #expect(lines[4] == "(Tool output) weather of a city: Oslo: sunny")
        #expect(response.transcriptEntries.count == 5)
        let asked = try #require(source.asked.last)
        #expect(asked.messages.map(\.role) == ["system", "user", "assistant", "tool", "tool"])
        #expect(asked.messages[3]["tool_call_id"]?.string == "c1")
    }

    @Test("A tool that throws ends the request as ToolCallError; the transcript is what it was")
    func throwing() async throws {
        let rome = call("c1", "Rome")
        let source = ScriptedSource { _, number in number == 0 ? [rome] : [.text("a")] }
        let session = session(source, [Weather { _ in throw Broken() }])
        do {
            try await session.respond(to: "weather?")
            Issue.record("it should have failed")
        } catch let error as LanguageModelSession.ToolCallError {
            #expect(error.tool.name == "weather of a city")
            #expect(error.underlyingError is Broken)
        }
        #expect(session.transcript.count == 1)
        #expect(try await session.respond(to: "hello").content == "a")
    }

    @Test("A blocked tool stops no other session; cancelling ends it")
    func blocked() async throws {
        let gate = Gate()
        let rome = call("c1", "Rome")
        let blocked = session(
            ScriptedSource { _, _ in [rome] },
            [
                Weather { city in
                    await gate.wait()
                    try Task.checkCancellation()
                    return city
                }
            ])
        let task = Task { try await blocked.respond(to: "weather?") }
        await gate.arrival()
        let other = session(ScriptedSource(saying: "hello"), [])
        #expect(try await other.respond(to: "q").content == "hello")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(blocked.transcript.count == 2)
    }

    @Test("Sixteen rounds are the most")
    func rounds() async throws {
        let source = ScriptedSource { _, number in
            [.call(id: "c\(number)", name: "weather_of_a_city", arguments: #"{"city":"R"}"#)]
        }
        let session = session(source, [Weather()])
        await #expect(throws: LanguageModelSession.GenerationError.self) {
            try await session.respond(to: "q")
        }
        #expect(source.asked.count == 16)
        #expect(session.transcript.count == 1)
        // In the last round the model cannot call, so that it answers.
        let answering = ScriptedSource { asked, number in
            asked.choice == .none
                ? [.text("enough")]
                : [.call(id: "c\(number)", name: "weather_of_a_city", arguments: #"{"city":"R"}"#)]
        }
        let reply = try await self.session(answering, [Weather()]).respond(
            to: "q", options: GenerationOptions(toolCallingMode: .required))
        #expect(reply.content == "enough")
        #expect(answering.asked.count == 16)
    }

    @Test(
        "The mode decides whether tools may or must be called; required holds for the first reply")
    func mode() async throws {
        let rome = call("c1", "Rome")
        for (mode, choices) in [
            (GenerationOptions.ToolCallingMode.allowed, [ToolChoice.auto, .auto]),
            (.required, [.required, .auto]),
            (.disallowed, [.none]),
        ] {
            let source = ScriptedSource { asked, number in
                number == 0 && asked.choice != .none ? [rome] : [.text("a")]
            }
            try await session(source, [Weather()]).respond(
                to: "q", options: GenerationOptions(toolCallingMode: mode))
            #expect(source.asked.map(\.choice) == choices)
        }
    }

    @Test("A typed reply may be preceded by calls")
    func typed() async throws {
        let rome = call("c1", "Rome")
        let source = ScriptedSource { asked, number in
            if asked.isSchema { return [.text(#"{"name":"Ada","age":1}"#)] }
            return number == 0 ? [rome] : [.text("I think"), .text(" that")]
        }
        let session = session(source, [Weather()])
        let response = try await session.respond(to: "q", generating: Person.self)
        #expect(response.content.name == "Ada")
        #expect(source.asked.map(\.isSchema) == [false, false, true])
        #expect(session.transcript.count == 5)
    }

    @Test(
        "What is said before a call begins the reply, and snapshots only grow",
        arguments: [
            ("Let me look. ", ""), ("Let me look.", "\n"), ("Let me look.\n", ""), ("", ""),
        ])
    func saidBefore(_ before: String, _ separator: String) async throws {
        let rome = call("c1", "Rome")
        let source = ScriptedSource { _, number in
            number == 0 ? [.text(before), rome] : [.text("It"), .text(" is sunny")]
        }
        let session = session(source, [Weather()])
        let stream = session.streamResponse(to: "q")
        var last = ""
        for try await snapshot in stream {
            #expect(snapshot.content.utf8.starts(with: last.utf8))
            last = snapshot.content
        }
        #expect(last == "\(before)\(separator)It is sunny")
        #expect(try await stream.collect().content == last)
        #expect(session.transcript.count == (before.isEmpty ? 5 : 6))
    }

    @Test("Two tools of one name, and arguments that are no structure, make requests fail")
    func bad() async throws {
        let source = ScriptedSource(saying: "a")
        let twice = session(source, [Weather(), Weather()])
        await #expect(throws: ToolError.self) { try await twice.respond(to: "q") }
        #expect(!twice.isResponding)
    }

    @Test("Names that models write are clean and different")
    func names() {
        #expect(
            SessionTools.written(["find a", "find.a", "", "日本", "ok-1"])
                == ["find_a", "find_a_2", "tool", "______", "ok-1"])
    }
}
