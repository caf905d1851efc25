import Routing
import Testing

/// Who is asked, in which order, and who is asked next when one fails.
struct RoutingTests {
    private let question = "Where do eels go?"

    @Test func thePreferredOneAnswers() async throws {
        let first = FakeProvider("first", [.answer(["To ", "the sea."])])
        let second = FakeProvider("second", [.answer(["Home."])])
        let router = try ChatRouter(providers: [first, second])
        let (events, error) = await outcome(of: router.ask(question))
        #expect(error == nil)
        let route = try #require(await router.routes.last)
        #expect(
            events == [
                .asking(provider: "first", why: "it is preferred"), .text("To "),
                .text("the sea."), .answered(route),
            ])
        #expect(route.provider == "first" && route.promptTokens == 4)
        #expect(second.asked.isEmpty)
        #expect(
            await router.conversation.turns
                == [Turn(question: question, answer: "To the sea.", provider: "first")])
    }

    @Test(arguments: [
        FakeProvider.Step.fail([], .unavailable("no route to host")),
        .fail(["To "], .cutOff), .fail([], .rejected(status: 500, "out of order")),
        .fail(["To "], .malformed("<html>")), .fail([], .endless(bytes: 9)),
        .answer([]), .answer(["", " \n"]),
    ])
    func anotherOneIsAskedWithTheReasonShown(_ step: FakeProvider.Step) async throws {
        let second = FakeProvider("second", [.answer(["Home."])])
        let router = try ChatRouter(providers: [FakeProvider("first", [step]), second])
        let (events, error) = await outcome(of: router.ask(question))
        #expect(error == nil)
        let failed = try #require(
            events.compactMap { event -> (String, Int)? in
                guard case .failed("first", let reason, let shown) = event else { return nil }
                return (reason, shown)
            }.first)
        let expected: ProviderFailure
        var shown = 0
        switch step {
        case .fail(let pieces, let failure):
            expected = failure
            shown = pieces.joined().count
        default:
            expected = .empty
            if case .answer(let pieces) = step { shown = pieces.joined().count }
        }
        #expect(failed == (expected.description, shown))
        #expect(try #require(events.last) == .answered(try #require(await router.routes.last)))
        // Nothing of the void answer stays, and the second one is asked the same.
        #expect(await router.conversation.turns.map(\.answer) == ["Home."])
        #expect(second.asked == [[Message(.user, question)]])
        let attempts = try #require(await router.routes.last).attempts
        #expect(attempts.map(\.provider) == ["first", "second"])
        #expect(attempts.map(\.failure) == [expected.description, nil])
    }

    @Test func whoFailedIsAskedLastForSomeTurns() async throws {
        let first = FakeProvider("first", [.fail([], .cutOff), .answer(["again"])])
        let second = FakeProvider("second", [.answer(["second"])])
        let router = try ChatRouter(providers: [first, second])
        var answers: [String] = []
        for _ in 0..<5 { answers.append(try await router.said(question)) }
        #expect(answers == ["second", "second", "second", "second", "again"])
        #expect(first.asked.count == 2)
    }

    @Test func withoutFallBackThereIsOneProvider() async throws {
        let first = FakeProvider("first", [.fail([], .cutOff), .answer(["again"])])
        let second = FakeProvider("second", [.answer(["never"])])
        var policy = RoutingPolicy()
        policy.fallsBack = false
        let router = try ChatRouter(providers: [first, second], policy: policy)
        let (_, error) = await outcome(of: router.ask(question))
        #expect(error is RouterError)
        #expect(try await router.said(question) == "again")
        let hindered = FakeProvider("first", [.answer(["never"])], hindrance: "no model")
        let other = try ChatRouter(providers: [hindered, second], policy: policy)
        let (_, reason) = await outcome(of: other.ask(question))
        #expect(reason is RouterError)
        #expect(second.asked.isEmpty)
    }

    @Test func whoIsPassedOverIsSaidWithTheReason() async throws {
        let router = try ChatRouter(providers: [
            FakeProvider("hindered", [.answer(["never"])], hindrance: "no model"),
            FakeProvider("failing", [.fail([], .cutOff)]),
            FakeProvider("third", [.answer(["ok"])]),
        ])
        _ = try await router.said(question)
        let (events, _) = await outcome(of: router.ask(question))
        #expect(
            Array(events.prefix(3)) == [
                .passedOver(provider: "hindered", reason: "no model"),
                .passedOver(
                    provider: "failing",
                    reason: "it comes last, because it failed lately: "
                        + "the connection ended before the answer did"),
                .asking(provider: "third", why: "it is number 3 in preference"),
            ])
        let route = try #require(await router.routes.last)
        #expect(route.attempts.map(\.provider) == ["hindered", "failing", "third"])
        #expect(route.inWords.contains("failing was not asked: it comes last"))
    }

    @Test func whoRestsIsAskedIfNobodyElseAnswers() async throws {
        let first = FakeProvider("first", [.fail([], .cutOff), .answer(["again"])])
        let second = FakeProvider("second", [.answer(["once"]), .fail([], .cutOff)])
        let router = try ChatRouter(providers: [first, second])
        #expect(try await router.said(question) == "once")
        let (events, _) = await outcome(of: router.ask(question))
        let asking = events.compactMap { event -> String? in
            guard case .asking(let provider, let why) = event else { return nil }
            return "\(provider): \(why)"
        }
        #expect(
            asking == [
                "second: it is number 2 in preference",
                "first: nobody else has answered",
            ])
    }

    @Test func nobodyAnswers() async throws {
        let router = try ChatRouter(providers: [
            FakeProvider("first", [.fail([], .cutOff)]),
            FakeProvider("second", [.answer(["never"])], hindrance: "no model is configured"),
        ])
        let (_, error) = await outcome(of: router.ask(question))
        let problem = try #require(error as? RouterError)
        #expect(
            problem.description
                == "nobody answered. second: no model is configured; "
                + "first: the connection ended before the answer did")
        #expect(await router.conversation.turns.isEmpty)
        #expect(await router.routes.count == 1)
        let (_, empty) = await outcome(of: try ChatRouter(providers: []).ask(question))
        #expect(empty as? RouterError == .notAnswered([]))
    }

    @Test func theChosenOneIsFirstAndMayBeTheOnlyOne() async throws {
        let first = FakeProvider("first", [.answer(["first"])])
        let second = FakeProvider("second", [.answer(["second"]), .fail([], .cutOff)])
        let router = try ChatRouter(providers: [first, second])
        try await router.choose("second")
        #expect(try await router.said(question) == "second")
        #expect(try await router.said(question) == "first")
        try await router.choose(nil)
        #expect(try await router.said(question) == "first")
        await #expect(throws: RouterError.unknownProvider("third", known: ["first", "second"])) {
            try await router.choose("third")
        }

        var alone = RoutingPolicy()
        alone.chosen = "second"
        alone.fallsBack = false
        let other = FakeProvider("first", [.answer(["never"])])
        let strict = try ChatRouter(providers: [other, second], policy: alone)
        let (_, error) = await outcome(of: strict.ask(question))
        #expect(error is RouterError)
        #expect(other.asked.isEmpty)
    }

    @Test func aSimulationIsAskedByItsNameAlone() async throws {
        let model = FakeProvider("model", [.fail([], .cutOff)])
        let router = try ChatRouter(providers: [SimulatedProvider(), model])
        let (events, error) = await outcome(of: router.ask(question))
        #expect(error as? RouterError != nil)
        #expect(events.first == .asking(provider: "model", why: "it is preferred"))
        #expect(await router.routes.last?.attempts.map(\.provider) == ["model"])
        try await router.choose("simulation")
        #expect(
            try await router.said(question) == "[simulated] You said: Where do eels go?")
        // A chosen model that fails does not lead to it, either.
        try await router.choose("model")
        let (_, again) = await outcome(of: router.ask(question))
        #expect(again as? RouterError != nil)
    }

    @Test func aPrivateConversationStaysHere() async throws {
        let remote = FakeProvider("remote", [.answer(["never"])], isLocal: false)
        let local = FakeProvider("local", [.answer(["here"]), .fail([], .cutOff)])
        let router = try ChatRouter(
            providers: [remote, local], conversation: Conversation(isPrivate: true))
        #expect(try await router.said(question) == "here")
        #expect(
            await router.routes.last?.attempts.first?.failure
                == "the conversation is private, and this is another machine")
        // Neither a failure nor a choice opens it.
        try await router.choose("remote")
        let (_, error) = await outcome(of: router.ask(question))
        #expect(error is RouterError)
        try await router.forget()
        _ = await outcome(of: router.ask(question))
        #expect(remote.asked.isEmpty)
    }

    @Test func aConversationThatBecomesPrivateStaysHere() async throws {
        let (answer, source) = AsyncThrowingStream<String, any Error>.makeStream()
        let local = FakeProvider("local", [.passOn(answer)])
        let remote = FakeProvider("remote", [.answer(["never"])], isLocal: false)
        let router = try ChatRouter(providers: [local, remote])
        let asking = Task { await outcome(of: router.ask(question)) }
        try await until { local.asked.count == 1 }
        try await router.makePrivate()
        source.finish(throwing: ProviderFailure.cutOff)
        let (events, error) = await asking.value
        #expect(error is RouterError)
        #expect(
            events.last
                == .failed(
                    provider: "remote", reason: ProviderFailure.isPrivate.description, shown: 0))
        #expect(remote.asked.isEmpty)
    }

    @Test func aRefusalIsAnAnswerUnlessThePolicySaysOtherwise() async throws {
        let careful = FakeProvider("careful", [.fail([], .refused("not that"))])
        let other = FakeProvider("other", [.answer(["well"])])
        let router = try ChatRouter(providers: [careful, other])
        for _ in 0..<2 {
            let (_, error) = await outcome(of: router.ask(question))
            #expect(error is RouterError)
        }
        #expect(other.asked.isEmpty)

        var policy = RoutingPolicy()
        policy.refusalsBeforeFallback = 2
        let lenient = try ChatRouter(providers: [careful, other], policy: policy)
        for other in [question, "And then?", question] {
            let (_, error) = await outcome(of: lenient.ask(other))
            #expect(error is RouterError)
        }
        #expect(try await lenient.said(question) == "well")
    }

    @Test func whatCannotBeAsked() async throws {
        let provider = FakeProvider("one", [.answer(["yes"])])
        let router = try ChatRouter(providers: [provider])
        let (_, error) = await outcome(of: router.ask(" \n"))
        #expect(error as? RouterError == .noQuestion)
        #expect(throws: RouterError.sameName("one")) {
            try ChatRouter(providers: [provider, provider])
        }
        var memory = Memory()
        memory.answerTokens = 1000
        #expect(throws: RouterError.noRoom("one", tokens: 1000, answer: 1000)) {
            try ChatRouter(providers: [provider], memory: memory)
        }
        var policy = RoutingPolicy()
        policy.chosen = "two"
        #expect(throws: RouterError.unknownProvider("two", known: ["one"])) {
            try ChatRouter(providers: [provider], policy: policy)
        }
    }
}
