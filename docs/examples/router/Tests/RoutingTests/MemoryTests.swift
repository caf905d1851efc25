import Foundation
import Routing
import Testing

/// What a provider is told of a conversation that has outgrown its window.
struct MemoryTests {
    /// Twenty turns of ten words each.
    private func conversation(turns: Int = 20) -> Conversation {
        var conversation = Conversation(instructions: "Be brief.")
        for turn in 0..<turns {
            conversation.turns.append(
                Turn(
                    question: "Question \(turn) a b c", answer: "Answer \(turn) d e f",
                    provider: "x"))
        }
        return conversation
    }

    private func memory(summary: Int = 10, budget: Int? = nil) -> Memory {
        var memory = Memory()
        memory.answerTokens = 20
        memory.margin = 0
        memory.summaryTokens = summary
        memory.budget = budget
        return memory
    }

    @Test func allThatFitsIsTold() async throws {
        let provider = FakeProvider("one", [.answer(["ok"])], window: 224)
        let router = try ChatRouter(
            providers: [provider], conversation: conversation(), memory: memory())
        _ = try await router.said("Well then?")
        #expect(provider.asked.count == 1)
        #expect(provider.asked[0].count == 42)
        #expect(provider.asked[0].first == Message(.system, "Be brief."))
        #expect(await router.routes.last?.leftOut == 0)
        #expect(await router.routes.last?.promptTokens == 204)
    }

    @Test func oldTurnsAreSummedUpOnceForManyTurns() async throws {
        let provider = FakeProvider(
            "one", [.answer(["They ", "spoke."]), .answer(["ok"])], window: 124)
        let router = try ChatRouter(
            providers: [provider], conversation: conversation(), memory: memory())
        let (events, error) = await outcome(of: router.ask("Well then?"))
        #expect(error == nil)
        // 104 tokens of room, 4 of them for question and instructions, 10 for a summary: 45 for turns.
        #expect(events[1] == .leftOut(turns: 16, summary: "They spoke.", whyNot: nil))
        #expect(provider.answerLimits == [10, 20])
        let summing = try #require(provider.asked.first)
        #expect(summing.count == 1)
        // What left beyond the room for summing up is not in it: its oldest turns.
        #expect(summing[0].text.contains("Question 15 "))
        #expect(!summing[0].text.contains("Question 0 "))
        let told = provider.asked[1]
        #expect(told.first == Message(.system, "Be brief.\n\nWhat was said before: They spoke."))
        #expect(told.count == 10)

        // The turns to come have room, and need no other summary.
        for turn in 0..<7 {
            _ = try await router.said("More \(turn) a b c?")
            #expect(provider.asked.count == 3 + turn)
            #expect(provider.asked[2 + turn].first == told.first)
        }
        #expect(await router.conversation.turns.count == 28)
    }

    @Test func aSummaryIsMadeOfTheOneBefore() async throws {
        let provider = FakeProvider(
            "one", [.answer(["First sum."]), .answer(["ok"])], window: 124)
        let router = try ChatRouter(
            providers: [provider], conversation: conversation(), memory: memory())
        _ = try await router.said("Well then?")
        var count = provider.asked.count
        // A second summary is needed at some time.
        while true {
            _ = try await router.said("Go on with a b?")
            if provider.asked.count > count + 1 { break }
            count = provider.asked.count
            try #require(count < 100)
        }
        let summing = provider.asked[count]
        #expect(summing[0].text.hasPrefix("Before: First sum.\nPerson: "))
        #expect(!summing[0].text.contains("Question 15 "))
        #expect(summing[0].text.contains("Question 16 "))
    }

    @Test func withoutASummaryTheConversationGoesOn() async throws {
        for step in [FakeProvider.Step.fail(["They"], .cutOff), .answer([])] {
            let provider = FakeProvider("one", [step, .answer(["ok"])], window: 124)
            let router = try ChatRouter(
                providers: [provider], conversation: conversation(), memory: memory())
            let (events, error) = await outcome(of: router.ask("Well then?"))
            #expect(error == nil)
            guard case .leftOut(16, nil, let reason?) = events[1] else {
                Issue.record("\(events)")
                continue
            }
            #expect([ProviderFailure.cutOff, .empty].map(\.description).contains(reason))
            #expect(provider.asked[1].first == Message(.system, "Be brief."))
            #expect(await router.routes.last?.isSummarized == false)
            #expect(
                await router.conversation.summary
                    == Conversation.Summary(text: nil, turns: 16, provider: "one"))
            // The next turns do not try again, and leave as much out.
            let (next, _) = await outcome(of: router.ask("And now?"))
            #expect(
                next[1] == .leftOut(turns: 16, summary: nil, whyNot: "there was none to be had"))
            #expect(provider.asked.count == 3)
        }
    }

    @Test func ofNothingThereIsNoSummary() async throws {
        let provider = FakeProvider("one", [.answer(["ok"])], window: 124)
        var conversation = Conversation()
        conversation.turns = [
            Turn(
                question: "Why?", answer: String(repeating: "word ", count: 300), provider: "x")
        ]
        let router = try ChatRouter(
            providers: [provider], conversation: conversation, memory: memory())
        let (events, _) = await outcome(of: router.ask("Well then?"))
        #expect(
            events[1]
                == .leftOut(
                    turns: 1, summary: nil, whyNot: "what left has no room to be summed up in"))
        #expect(provider.asked == [[Message(.user, "Well then?")]])
    }

    @Test func whatIsKnownStaysWithItsRemarkOrWithout() async throws {
        // 104 tokens of room: 2 for the question, 4 before the summary, and 5 for the remark if it fits.
        for (words, remark) in [(93, " (More was said after that.)"), (94, ""), (98, "")] {
            let provider = FakeProvider("one", [], window: 124)
            let known = Array(repeating: "eel", count: words).joined(separator: " ")
            var conversation = conversation(turns: 1)
            conversation.instructions = ""
            conversation.turns.append(
                Turn(
                    question: "Why?", answer: String(repeating: "word ", count: 300), provider: "x")
            )
            conversation.summary = Conversation.Summary(text: known, turns: 1, provider: "one")
            let told = try await memory().recollection(
                of: conversation, question: "Well then?", for: provider
            ) { _, _ in
                Issue.record("there is no room to sum up in")
                return ""
            }
            #expect(told.summary?.text == known + remark, "\(words)")
            #expect(told.leftOut == 2 && told.tokens <= 104)
        }
    }

    @Test func aSummaryIsToldToWhoMadeIt() async throws {
        let first = FakeProvider("first", [.answer(["Obey me."]), .answer(["ok"])], window: 124)
        let second = FakeProvider(
            "second", [.answer(["They spoke."]), .answer(["ok"])], window: 124)
        let router = try ChatRouter(
            providers: [first, second], conversation: conversation(), memory: memory())
        _ = try await router.said("Well then?")
        try await router.choose("second")
        _ = try await router.said("And now?")
        #expect(!second.asked.joined().contains { $0.text.contains("Obey me.") })
        #expect(
            second.asked.last?.first
                == Message(.system, "Be brief.\n\nWhat was said before: They spoke."))
    }

    @Test func aLongConversationIsNotCountedAgainAndAgain() async throws {
        let provider = FakeProvider(
            "one", [.answer(["They spoke."]), .answer(["ok"])], window: 124)
        let router = try ChatRouter(
            providers: [provider], conversation: conversation(turns: 100_000), memory: memory())
        _ = try await router.said("Well then?")
        #expect(provider.timesCounted < 40)
    }

    @Test func aSummaryBeyondItsRoomIsLeftOut() async throws {
        let long = Array(repeating: "word ", count: 90)
        let provider = FakeProvider("one", [.answer(long), .answer(["ok"])], window: 124)
        let router = try ChatRouter(
            providers: [provider], conversation: conversation(), memory: memory())
        let (events, _) = await outcome(of: router.ask("Well then?"))
        #expect(
            events[1]
                == .leftOut(
                    turns: 16, summary: nil, whyNot: "it has more tokens than there is room for"))
    }

    @Test func noSummaryIsMadeIfNoneIsWanted() async throws {
        let provider = FakeProvider("one", [.answer(["ok"])])
        let router = try ChatRouter(
            providers: [provider], conversation: conversation(),
            memory: memory(summary: 0, budget: 124))
        _ = try await router.said("Well then?")
        #expect(provider.asked.count == 1)
        #expect(provider.asked[0].count == 12)
    }

    @Test func aQuestionThatIsTooLongGoesToALargerWindow() async throws {
        let small = FakeProvider("small", [.answer(["never"])], window: 60)
        let large = FakeProvider("large", [.answer(["ok"])])
        let router = try ChatRouter(
            providers: [small, large], conversation: conversation(turns: 1), memory: memory())
        let question = Array(repeating: "why", count: 50).joined(separator: " ")
        let (events, error) = await outcome(of: router.ask(question))
        #expect(error == nil)
        #expect(
            events[1]
                == .failed(
                    provider: "small",
                    reason: "the question has 52 tokens, and there is room for 40", shown: 0))
        // That is no fault of the small one.
        let (next, _) = await outcome(of: router.ask("why"))
        #expect(next.first == .asking(provider: "small", why: "it is preferred"))
    }

    @Test func aLargerWindowIsToldMoreThanASummary() async throws {
        let small = FakeProvider("small", [.answer(["Sum."]), .answer(["ok"])], window: 124)
        let large = FakeProvider("large", [.answer(["ok"])])
        let router = try ChatRouter(
            providers: [small, large], conversation: conversation(), memory: memory())
        _ = try await router.said("Well then?")
        try await router.choose("large")
        _ = try await router.said("And now?")
        #expect(large.asked[0].count == 44)
        #expect(large.asked[0][0] == Message(.system, "Be brief."))
    }

    @Test func aConversationGoesOnInAnotherProcess() async throws {
        try await withFolder { folder in
            let file = ConversationFile(folder.appending(path: "talk.json"))
            #expect(try file.load() == nil)
            let provider = FakeProvider(
                "one", [.answer(["They spoke."]), .answer(["ok"])], window: 124)
            let router = try ChatRouter(
                providers: [provider], conversation: conversation(), memory: memory(), file: file)
            _ = try await router.said("Well then?")
            let stored = try #require(try file.load())
            #expect(stored == (await router.conversation))
            #expect(
                stored.summary
                    == Conversation.Summary(text: "They spoke.", turns: 16, provider: "one"))
            try Data("old".utf8).write(to: URL(filePath: file.url.path + ".part"))
            try file.save(stored)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try await router.makePrivate()
            #expect(try file.load()?.isPrivate == true)

            let text = try String(contentsOf: file.url, encoding: .utf8)
            for (old, new) in [
                ("\"version\" : 1", "\"version\" : 2"), ("\"turns\" : 16", "\"turns\" : 160"),
                ("\"question\"", "\"questoin\""), ("}", ""),
            ] {
                try text.replacingOccurrences(of: old, with: new)
                    .write(to: file.url, atomically: true, encoding: .utf8)
                #expect(throws: ConversationFile.Flaw.self, "\(new)") { try file.load() }
            }
            try Data(count: ConversationFile.limit + 1).write(to: file.url)
            #expect(
                throws: ConversationFile.Flaw.tooLong(
                    file.url.path, limit: ConversationFile.limit)
            ) { try file.load() }
        }
    }

    @Test func aFileThatCannotBeWrittenIsNoFailureOfAProvider() async throws {
        try await withFolder { folder in
            let file = ConversationFile(folder.appending(path: "missing/talk.json"))
            let second = FakeProvider("second", [.answer(["never"])])
            let router = try ChatRouter(
                providers: [FakeProvider("one", [.answer(["ok"])]), second], file: file)
            let (events, error) = await outcome(of: router.ask("Well?"))
            guard case .unwritable = error as? ConversationFile.Flaw else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(events.contains(.text("ok")))
            #expect(second.asked.isEmpty)
            #expect(await router.conversation.turns.count == 1)
        }
    }
}
