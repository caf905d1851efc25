import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinSessions

@Suite("Checks in sessions")
struct GuardedSessionTests {
    private typealias GenerationError = LanguageModelSession.GenerationError

    /// Declines texts with a word.
    private struct Declining: GuardrailCheck {
        func check(_ text: String, on stage: GuardrailStage) -> GuardrailVerdict {
            stage == .input && text.contains("decline")
                ? .refusal(explanation: "I would rather not.") : .pass
        }
    }

    private func session(
        _ source: ScriptedSource, _ guardrails: SystemLanguageModel.Guardrails
    ) -> LanguageModelSession {
        LanguageModelSession(model: SystemLanguageModel(script: source, guardrails: guardrails))
    }

    private func denying(_ terms: String...) throws -> SystemLanguageModel.Guardrails {
        SystemLanguageModel.Guardrails(checks: [try DenyList(terms)])
    }

    private func isViolation(_ error: any Error) -> Bool {
        if case GenerationError.guardrailViolation = error { true } else { false }
    }

    @Test("A prompt or a reply with a denied term is a violation, and leaves no trace")
    func violations() async throws {
        let session = session(ScriptedSource(saying: "the green grass grows"), try denying("grass"))
        await #expect {
            try await session.respond(to: "GRASS?")
        } throws: {
            isViolation($0)
        }
        await #expect {
            try await session.respond(to: "what grows?")
        } throws: {
            isViolation($0)
        }
        #expect(session.transcript.isEmpty)
    }

    @Test("A stream never shows a denied term, not even its beginning")
    func streams() async throws {
        for term in ["grass", "green grass", "grass grows"] {
            let source = ScriptedSource(saying: "the green grass grows high")
            let stream = session(source, try denying(term)).streamResponse(to: "q")
            var last = ""
            await #expect {
                for try await snapshot in stream { last = snapshot.content }
            } throws: {
                isViolation($0)
            }
            let place = "the green grass grows high".range(of: term)?.lowerBound
            let before = place.map { "the green grass grows high"[..<$0] } ?? ""
            #expect(before.hasPrefix(last), "\(term): \(last)")
        }
        // What is not denied comes whole.
        let stream = session(ScriptedSource(saying: "a b c"), try denying("grass"))
            .streamResponse(to: "q")
        #expect(try await stream.collect().content == "a b c")
    }

    @Test("A phrase that spans a call of a tool is found, and none of it is told")
    func acrossCalls() async throws {
        // A word cannot span a call: what follows begins a line.
        for (first, second) in [("a hand ", "grenade"), ("a hand", "grenade")] {
            let source = ScriptedSource { _, number in
                number == 0
                    ? [
                        .text(first),
                        .call(
                            id: "c", name: "weather_of_a_city", arguments: #"{"city":"Rome"}"#),
                    ] : [.text(second)]
            }
            let model = SystemLanguageModel(
                script: source, guardrails: try denying("hand grenade"))
            let session = LanguageModelSession(model: model, tools: [ToolTurnTests.Weather()])
            let stream = session.streamResponse(to: "q")
            var last = ""
            await #expect {
                for try await snapshot in stream { last = snapshot.content }
            } throws: {
                isViolation($0)
            }
            #expect("a ".hasPrefix(last), "\(last)")
        }
    }

    @Test("What a tool would be given is looked at first")
    func arguments() async throws {
        let source = ScriptedSource { _, _ in
            [.call(id: "c", name: "weather_of_a_city", arguments: #"{"city":"a\ngrass"}"#)]
        }
        let model = SystemLanguageModel(script: source, guardrails: try denying("grass"))
        let session = LanguageModelSession(
            model: model,
            tools: [
                ToolTurnTests.Weather { _ in
                    Issue.record("the tool was called")
                    return ""
                }
            ])
        await #expect {
            try await session.respond(to: "q")
        } throws: {
            isViolation($0)
        }
    }

    @Test("Typed replies are read as people read them, whatever the escapes")
    func escapes() async throws {
        for name in [#"a\ngrass"#, #"\u0067rass"#, #"x \t grass"#, "gr\u{AD}ass"] {
            let source = ScriptedSource { _, _ in
                #"{"name":"\#(name)","age":1}"#.map { .text(String($0)) }
            }
            await #expect {
                try await session(source, denying("grass")).respond(
                    to: "q", generating: Person.self)
            } throws: {
                isViolation($0)
            }
        }
        var reader = EscapeReader()
        let text = #"{"a":"\ud83d\ude00 \" \\ x"}"#
        #expect(text.map { reader.read(String($0)) }.joined() == #"{"a":"😀 " \ x"}"#)
    }

    @Test("A check that declines is the answer to a text request, and a refusal of a typed one")
    func refusals() async throws {
        let guardrails = SystemLanguageModel.Guardrails(checks: [Declining()])
        let source = ScriptedSource(saying: "yes")
        let session = session(source, guardrails)
        let reply = try await session.respond(to: "decline this")
        #expect(reply.content == "I would rather not.")
        #expect(session.transcript.count == 2)
        #expect(source.asked.isEmpty)
        do {
            try await session.respond(to: "decline this", generating: Person.self)
            Issue.record("it should have failed")
        } catch GenerationError.refusal(let refusal, _) {
            #expect(try await refusal.explanation.content == "I would rather not.")
            var last = ""
            for try await snapshot in refusal.explanationStream { last = snapshot.content }
            #expect(last == "I would rather not.")
        }
        #expect(session.transcript.count == 2)
    }

    @Test("Permissive guardrails leave text alone and look at types")
    func permissive() async throws {
        let guardrails = SystemLanguageModel.Guardrails(
            checks: [try DenyList(["grass"])], permissiveContentTransformations: true)
        let source = ScriptedSource { asked, _ in
            asked.isSchema ? [.text(#"{"name":"grass","age":1}"#)] : [.text("grass")]
        }
        let session = session(source, guardrails)
        #expect(try await session.respond(to: "grass").content == "grass")
        await #expect {
            try await session.respond(to: "q", generating: Person.self)
        } throws: {
            isViolation($0)
        }
    }

    @Test("A safety log has each request and what fired")
    func log() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            let url = URL(filePath: directory + "/safety.jsonl")
            let guardrails = SystemLanguageModel.Guardrails(
                checks: [try DenyList(["grass"])], log: try SafetyLog(fileURL: url))
            let session = session(ScriptedSource(saying: "hay"), guardrails)
            try await session.respond(to: "q")
            await #expect(throws: GenerationError.self) {
                try await session.respond(to: "grass")
            }
            // What was seen before a request was left is written down, too.
            let gate = Gate()
            let open = self.session(
                ScriptedSource { _, _ in [.text("seen. "), .gate(gate), .text("not")] }, guardrails)
            let stream = open.streamResponse(to: "p")
            for try await _ in stream { break }
            await #expect(throws: CancellationError.self) { try await stream.collect() }
            let all = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
            #expect(all.count == 3)
            #expect(all.last?.contains(#""response":"seen. ""#) == true)
            let lines = all.prefix(2)
            #expect(lines.first?.contains(#""response":"hay""#) == true)
            #expect(lines.last?.contains("DenyList") == true)
        }
    }
}
