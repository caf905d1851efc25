import Routing
import Testing

/// Providers that stall, that never end and that are stopped. Waits are long where an answer must come, and short where
/// none comes: no result depends on how fast anything is.
struct PatienceTests {
    private let question = "Where do eels go?"

    private func patience(
        beginning: Duration = .seconds(600), silence: Duration = .seconds(600),
        whole: Duration = .seconds(600)
    ) -> Patience {
        var patience = Patience()
        patience.beginning = beginning
        patience.silence = silence
        patience.whole = whole
        return patience
    }

    @Test(arguments: [FakeProvider.Step.stall(), .ignoreCancellation])
    func whoSaysNothingIsLeft(_ step: FakeProvider.Step) async throws {
        let first = FakeProvider("first", [step])
        let router = try ChatRouter(
            providers: [first, FakeProvider("second", [.answer(["Home."])])],
            patience: patience(beginning: .milliseconds(50), silence: .seconds(600)))
        // The second one's answer is there at once, but this machine may be busy for as long as the first one's
        // patience: then nobody has answered, and it is asked again.
        try await until { await outcome(of: router.ask(question)).error == nil }
        #expect(await router.conversation.turns.map(\.answer) == ["Home."])
        let reasons = await router.routes[0].attempts.map(\.failure)
        #expect(reasons.first == "nothing came for 50 ms")
        if case .stall = step { try await until { first.timesLeft > 0 } }
    }

    @Test func whoFallsSilentIsLeft() async throws {
        let first = FakeProvider("first", [.stall(["To the"])])
        let router = try ChatRouter(
            providers: [first], patience: patience(silence: .milliseconds(50)))
        let (events, error) = await outcome(of: router.ask(question))
        #expect(error is RouterError)
        #expect(
            events.last == .failed(provider: "first", reason: "nothing came for 50 ms", shown: 6))
        #expect(await router.conversation.turns.isEmpty)
    }

    /// The wait for the first piece is long, and the one for the next is short.
    @Test func whoFallsSilentAfterAWhileIsLeft() async throws {
        let (answer, source) = AsyncThrowingStream<String, any Error>.makeStream()
        let speaking = Task {
            try await Task.sleep(for: .milliseconds(300))
            source.yield("To")
        }
        await #expect(throws: ProviderFailure.stalled(.milliseconds(50))) {
            for try await _ in patience(silence: .milliseconds(50)).watching(answer) {}
        }
        try await speaking.value
    }

    @Test func aTrickleHasAnEnd() async throws {
        let (endless, source) = AsyncThrowingStream<String, any Error>.makeStream()
        let trickle = Task {
            // It has an end of its own, for a patience that has none.
            let end = ContinuousClock.now + .seconds(300)
            while !Task.isCancelled, ContinuousClock.now < end {
                source.yield("drop ")
                try await Task.sleep(for: .milliseconds(1))
            }
            source.finish()
        }
        source.onTermination = { _ in trickle.cancel() }
        await #expect(throws: ProviderFailure.tooSlow(.milliseconds(200))) {
            for try await _ in patience(whole: .milliseconds(200)).watching(endless) {}
        }
        // It is told.
        try await until { trickle.isCancelled }
    }

    @Test func aStoppedAnswerStaysAsFarAsItWasShown() async throws {
        let first = FakeProvider("first", [.stall(["To ", "the"]), .answer(["Yes."])])
        let second = FakeProvider("second", [.answer(["never"])])
        let router = try ChatRouter(providers: [first, second], patience: patience())
        for try await event in router.ask(question) where event == .text("the") { break }
        // The next question waits until the stopped one is put away.
        #expect(try await router.said("Really?") == "Yes.")
        #expect(
            await router.conversation.turns.first
                == Turn(question: question, answer: "To the", provider: "first", isCutShort: true))
        #expect(await router.routes.first?.isCutShort == true)
        #expect(second.asked.isEmpty)
        #expect(
            first.asked.last
                == [
                    Message(.user, question), Message(.assistant, "To the"),
                    Message(.user, "Really?"),
                ])
        try await until { first.timesLeft == 1 }
    }

    @Test func aQuestionThatIsStoppedBeforeItsAnswerDoesNotStay() async throws {
        let first = FakeProvider("first", [.stall(), .answer(["Yes."])])
        let router = try ChatRouter(providers: [first], patience: patience())
        let asking = Task { await outcome(of: router.ask(question)) }
        try await until { first.asked.count == 1 }
        asking.cancel()
        let (events, error) = await asking.value
        #expect(events.count <= 1)
        #expect(error == nil || error is CancellationError)
        #expect(try await router.said("Really?") == "Yes.")
        #expect(await router.conversation.turns.map(\.question) == ["Really?"])
    }

    @Test func aStoppedAnswerWithoutAWordDoesNotStay() async throws {
        let first = FakeProvider("first", [.stall(["\n", " "]), .answer(["Yes."])])
        let router = try ChatRouter(providers: [first], patience: patience())
        for try await event in router.ask(question) where event == .text(" ") { break }
        #expect(try await router.said("Really?") == "Yes.")
        #expect(await router.conversation.turns.count == 1)
    }

    @Test func whatIsForgottenDoesNotComeBack() async throws {
        let first = FakeProvider("first", [.stall(["To"])])
        let router = try ChatRouter(providers: [first], patience: patience())
        let (words, heard) = AsyncStream<Void>.makeStream()
        let asking = Task {
            defer { heard.finish() }
            for try await event in router.ask(question) where event == .text("To") { heard.yield() }
        }
        for await _ in words { break }
        await #expect(throws: RouterError.busy) { try await router.forget() }
        asking.cancel()
        // It ends without a word, or with a cancellation.
        _ = await asking.result
        // The stopped answer is kept first, and forgotten with the rest.
        try await until {
            do {
                try await router.forget()
                return true
            } catch {
                return false
            }
        }
        await router.settle()
        #expect(await router.conversation.turns.isEmpty)
    }

    @Test func aProviderThatSpeaksOfCancellationHasFailed() async throws {
        let (answer, source) = AsyncThrowingStream<String, any Error>.makeStream()
        source.yield("To ")
        source.finish(throwing: CancellationError())
        let first = FakeProvider("first", [.passOn(answer)])
        let second = FakeProvider("second", [.answer(["Home."])])
        let router = try ChatRouter(providers: [first, second])
        #expect(try await router.said(question) == "Home.")
        #expect(await router.conversation.turns.map(\.answer) == ["Home."])
    }

    @Test func oneQuestionAtATime() async throws {
        let first = FakeProvider("first", [.stall(["To"]), .answer(["Yes."])])
        let router = try ChatRouter(providers: [first], patience: patience())
        let (words, heard) = AsyncStream<Void>.makeStream()
        let asking = Task {
            defer { heard.finish() }
            for try await event in router.ask(question) where event == .text("To") { heard.yield() }
        }
        for await _ in words { break }
        let (events, error) = await outcome(of: router.ask("And now?"))
        #expect(events.isEmpty)
        #expect(error as? RouterError == .busy)
        asking.cancel()
        // It ends without a word, or with a cancellation.
        _ = await asking.result
        #expect(try await router.said("And now?") == "Yes.")
    }
}
