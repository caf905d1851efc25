import SkeinInference
import Synchronization
import Testing

@testable import SkeinSessions

@Suite("A request after a cancelled one")
struct CancelledTurnTests {
    private typealias GenerationError = LanguageModelSession.GenerationError

    /// A session whose first request calls a tool that does not look at cancellation, and whose other
    /// ones say "two".
    private func stubborn(_ gate: Gate) -> LanguageModelSession {
        let tool = ToolTurnTests.Weather { city in
            // The task of its own is not cancelled with the one that waits for it.
            await Task.detached { await gate.wait() }.value
            return city
        }
        let source = ScriptedSource { _, number in
            number == 0
                ? [.call(id: "c", name: "weather_of_a_city", arguments: #"{"city":"Rome"}"#)]
                : [.text("two")]
        }
        return LanguageModelSession(model: SystemLanguageModel(script: source), tools: [tool])
    }

    /// Waits until a request waits for the end of another one.
    private func waiting(_ session: LanguageModelSession) async {
        while !session.state.withLock({ $0.next?.waiter != nil }) { await Task.yield() }
    }

    private func isConcurrent(_ error: any Error) -> Bool {
        if case GenerationError.concurrentRequests = error { true } else { false }
    }

    @Test("It waits for the end of that one; a third request is refused meanwhile")
    func waits() async throws {
        let gate = Gate()
        let session = stubborn(gate)
        let first = Task { try await session.respond(to: "one") }
        await gate.arrival()
        first.cancel()
        let second = Task { try await session.respond(to: "two") }
        await waiting(session)
        #expect(session.isResponding)
        await #expect {
            try await session.respond(to: "three")
        } throws: {
            isConcurrent($0)
        }
        await #expect {
            try await session.streamResponse(to: "three").collect()
        } throws: {
            isConcurrent($0)
        }
        gate.open()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.value.content == "two")
        #expect(!session.isResponding)
        let prompts = session.transcript.filter { if case .prompt = $0 { true } else { false } }
        #expect(prompts.count == 2)
    }

    @Test("A stream waits likewise, and one that was let go meanwhile gives its place away")
    func streams() async throws {
        let gate = Gate()
        let session = stubborn(gate)
        var first: LanguageModelSession.ResponseStream<String>? = session.streamResponse(to: "one")
        await gate.arrival()
        #expect(first != nil)
        first = nil
        var second: LanguageModelSession.ResponseStream<String>? = session.streamResponse(to: "two")
        await waiting(session)
        #expect(second != nil)
        second = nil
        let third = session.streamResponse(to: "three")
        gate.open()
        #expect(try await third.collect().content == "two")
        #expect(session.transcript.description.contains("(Prompt) three"))
        #expect(!session.transcript.description.contains("(Prompt) two"))
    }

    @Test("Its wait can be cancelled, and leaves nothing in the transcript")
    func cancelledWait() async throws {
        let gate = Gate()
        let session = stubborn(gate)
        let first = Task { try await session.respond(to: "one") }
        await gate.arrival()
        first.cancel()
        let second = Task { try await session.respond(to: "two") }
        await waiting(session)
        second.cancel()
        // The tool goes on still.
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(session.isResponding)
        gate.open()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(!session.isResponding)
        #expect(session.transcript.map(\.description).last == "(Prompt) one")
        #expect(try await session.respond(to: "three").content == "two")
    }

    @Test("Its wait has an end, which names the tool that goes on")
    func late() async throws {
        let gate = Gate()
        let session = stubborn(gate)
        session.state.withLock { $0.patience = .zero }
        let first = Task { try await session.respond(to: "one") }
        await gate.arrival()
        first.cancel()
        await #expect {
            try await session.respond(to: "two")
        } throws: { error in
            guard case GenerationError.concurrentRequests(let context) = error else { return false }
            return context.debugDescription.contains("weather of a city")
        }
        gate.open()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await session.respond(to: "three").content == "two")
    }

    @Test("A task that streams is cancelled, and the next request is answered at once")
    func cancelledLoop() async throws {
        for _ in 0..<50 {
            let gate = Gate()
            let session = LanguageModelSession(
                model: SystemLanguageModel(
                    script: ScriptedSource { _, number in
                        number == 0 ? [.text("a"), .gate(gate), .text("b")] : [.text("c")]
                    }))
            let stream = session.streamResponse(to: "one")
            let seen = Gate()
            let loop = Task {
                for try await _ in stream { seen.open() }
            }
            await seen.wait()
            // No more comes, so it stays in its wait for the next snapshot.
            while !stream.handle.feed.isAwaited { await Task.yield() }
            loop.cancel()
            #expect(try await session.respond(to: "two").content == "c")
            await #expect(throws: CancellationError.self) { try await loop.value }
        }
    }

    @Test("A loop is left, and the next request is answered at once")
    func leftLoop() async throws {
        for _ in 0..<50 {
            let gate = Gate()
            let session = LanguageModelSession(
                model: SystemLanguageModel(
                    script: ScriptedSource { _, number in
                        number == 0 ? [.text("a"), .gate(gate), .text("b")] : [.text("c")]
                    }))
            for try await _ in session.streamResponse(to: "one") { break }
            #expect(try await session.respond(to: "two").content == "c")
        }
    }
}
