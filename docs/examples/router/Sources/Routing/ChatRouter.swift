/// One conversation over several providers: picks who is asked, tells it as much as it has room for, and
/// asks another one if it fails. Never silently: each step is an event.
package actor ChatRouter {
    /// How many routes are kept; older ones are forgotten.
    package static let routeLimit = 1000

    private let providers: [any Provider]
    private let memory: Memory
    private let patience: Patience
    private let file: ConversationFile?
    package private(set) var conversation: Conversation
    package private(set) var routes: [Route] = []
    private var policy: RoutingPolicy
    private var failures: [String: RoutingPolicy.Failure] = [:]
    /// How often the last question was refused.
    private var refusals = (question: "", count: 0)
    /// Questions that were asked, answered or not.
    private var turn = 0
    private var current: Task<Void, Never>?

    /// What happens on the way to an answer, in its order.
    package enum Event: Sendable, Equatable {
        /// Somebody is not asked, or only if nobody else answers.
        case passedOver(provider: String, reason: String)
        case asking(provider: String, why: String)
        /// The prompt has no room for the oldest turns.
        case leftOut(turns: Int, summary: String?, whyNot: String?)
        case text(String)
        /// Another provider is asked now, if there is one. Text that was shown of this answer is void.
        case failed(provider: String, reason: String, shown: Int)
        case answered(Route)
    }

    /// - Parameters:
    ///   - providers: in the order of preference, each with a name of its own.
    ///   - conversation: what was said already.
    ///   - policy: who is asked first, and when another one is.
    ///   - memory: how much a provider is told.
    ///   - patience: how long it may take.
    ///   - file: where it is kept.
    /// - Throws: `RouterError.sameName`; `.noRoom`; `.unknownProvider` if the policy has chosen nobody of them.
    package init(
        providers: [any Provider], conversation: Conversation = Conversation(),
        policy: RoutingPolicy = RoutingPolicy(), memory: Memory = Memory(),
        patience: Patience = Patience(), file: ConversationFile? = nil
    ) throws {
        for (index, provider) in providers.enumerated() {
            if providers[..<index].contains(where: { $0.name == provider.name }) {
                throw RouterError.sameName(provider.name)
            }
            guard memory.room(provider) > 0 else {
                throw RouterError.noRoom(
                    provider.name, tokens: min(provider.window, memory.budget ?? .max),
                    answer: memory.answerTokens)
            }
        }
        try Self.check(policy.chosen, isOneOf: providers)
        self.providers = providers
        self.conversation = conversation
        self.policy = policy
        self.memory = memory
        self.patience = patience
        self.file = file
    }

    /// Chooses who is asked first from now on; nil: by preference.
    ///
    /// - Throws: `RouterError.unknownProvider`.
    package func choose(_ name: String?) throws {
        try Self.check(name, isOneOf: providers)
        policy.chosen = name
    }

    private static func check(_ name: String?, isOneOf providers: [any Provider]) throws {
        guard let name, !providers.contains(where: { $0.name == name }) else { return }
        throw RouterError.unknownProvider(name, known: providers.map(\.name))
    }

    /// Writes the conversation's file, if it has one.
    ///
    /// - Throws: what writing the file throws.
    package func save() throws {
        try file?.save(conversation)
    }

    /// From now on nothing more of this conversation leaves the machine; what is on its way is not called back.
    ///
    /// - Throws: what writing the file throws; the conversation is private in any case.
    package func makePrivate() throws {
        conversation.isPrivate = true
        try file?.save(conversation)
    }

    /// A new conversation with the same instructions, as private as the one before. Providers that failed still rest.
    ///
    /// - Throws: `RouterError.busy` while an answer comes; what writing the file throws.
    package func forget() async throws {
        await settle()
        guard current == nil else { throw RouterError.busy }
        conversation = Conversation(
            instructions: conversation.instructions, isPrivate: conversation.isPrivate)
        try file?.save(conversation)
    }

    /// Waits until an answer that was stopped is put away.
    package func settle() async {
        if let current, current.isCancelled { await current.value }
    }

    /// Asks. Ending the iteration, or cancelling the task that iterates, stops the answer, which stays in the
    /// conversation as far as it was shown. A question without an answer does not stay.
    ///
    /// - Throws: `RouterError` while iterating; what the file of the conversation throws.
    package nonisolated func ask(_ question: String) -> AsyncThrowingStream<Event, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                await self.run(question, continuation)
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func run(
        _ question: String, _ events: AsyncThrowingStream<Event, any Error>.Continuation
    ) async {
        await settle()
        guard current == nil else { return events.finish(throwing: RouterError.busy) }
        let work = Task {
            do {
                try await self.answer(question) { events.yield($0) }
                events.finish()
            } catch {
                events.finish(throwing: error)
            }
            self.current = nil
        }
        current = work
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
    }

    private func answer(_ question: String, _ tell: (Event) -> Void) async throws {
        guard question.contains(where: { !$0.isWhitespace }) else { throw RouterError.noQuestion }
        turn += 1
        let order = await policy.order(
            of: providers, isPrivate: conversation.isPrivate, turn: turn, failures: failures)
        var route = Route(attempts: order.passedOver)
        defer {
            routes.append(route)
            routes.removeFirst(max(0, routes.count - Self.routeLimit))
        }
        for attempt in order.passedOver {
            tell(.passedOver(provider: attempt.provider, reason: attempt.failure ?? ""))
        }
        for (provider, why) in order.asked {
            tell(.asking(provider: provider.name, why: why))
            route.attempts.append(Route.Attempt(provider: provider.name, why: why))
            (route.promptTokens, route.leftOut, route.isSummarized) = (0, 0, false)
            var shown = ""
            do {
                try await answer(question, by: provider, &route, &shown, tell)
                failures[provider.name] = nil
                return tell(.answered(route))
            } catch let error as SavingError {
                throw error.underlying
            } catch  where Task.isCancelled {
                route.isCutShort = true
                route.attempts[route.attempts.count - 1].failure = "you stopped it"
                if Self.saysSomething(shown) {
                    do {
                        try keep(question, shown, provider, isCutShort: true)
                    } catch let error as SavingError {
                        throw error.underlying
                    }
                }
                throw CancellationError()
            } catch {
                let failure = ProviderFailure(error)
                route.attempts[route.attempts.count - 1].failure = failure.description
                tell(
                    .failed(
                        provider: provider.name, reason: failure.description,
                        shown: shown.count))
                guard goesOn(after: failure, of: provider, question) else {
                    throw RouterError.notAnswered(route.attempts)
                }
            }
        }
        throw RouterError.notAnswered(route.attempts)
    }

    private func answer(
        _ question: String, by provider: any Provider, _ route: inout Route, _ shown: inout String,
        _ tell: (Event) -> Void
    ) async throws {
        try checkPrivacy(provider)
        let prompt = try await memory.recollection(
            of: conversation, question: question, for: provider
        ) { messages, tokens in
            try await self.whole(self.pieces(of: provider, messages, tokens))
        }
        route.promptTokens = prompt.tokens
        route.leftOut = prompt.leftOut
        route.isSummarized = prompt.summary?.text != nil
        if prompt.leftOut > 0 {
            tell(
                .leftOut(
                    turns: prompt.leftOut, summary: prompt.summary?.text,
                    whyNot: prompt.whyNoSummary))
        }
        for try await piece in try pieces(of: provider, prompt.messages, memory.answerTokens)
        where !piece.isEmpty {
            shown += piece
            tell(.text(piece))
        }
        try Task.checkCancellation()
        guard Self.saysSomething(shown) else { throw ProviderFailure.empty }
        route.provider = provider.name
        if let summary = prompt.summary { conversation.summary = summary }
        try keep(question, shown, provider, isCutShort: false)
    }

    /// Whatever a provider is told, it is told here: nothing of a conversation that has become private meanwhile.
    private func pieces(
        of provider: any Provider, _ messages: [Message], _ tokens: Int
    ) throws -> AsyncThrowingStream<String, any Error> {
        try Task.checkCancellation()
        try checkPrivacy(provider)
        return patience.watching(provider.answer(to: messages, tokens: tokens))
    }

    private func checkPrivacy(_ provider: any Provider) throws {
        if conversation.isPrivate && !provider.isLocal { throw ProviderFailure.isPrivate }
    }

    private func whole(_ pieces: AsyncThrowingStream<String, any Error>) async throws -> String {
        var text = ""
        for try await piece in pieces { text += piece }
        try Task.checkCancellation()
        guard Self.saysSomething(text) else { throw ProviderFailure.empty }
        return text
    }

    private static func saysSomething(_ text: String) -> Bool {
        text.contains { !$0.isWhitespace }
    }

    /// The answer is in the conversation even if the file cannot be written; whoever asked is told.
    private func keep(
        _ question: String, _ answer: String, _ provider: any Provider, isCutShort: Bool
    ) throws {
        conversation.turns.append(
            Turn(
                question: question, answer: answer, provider: provider.name,
                isCutShort: isCutShort))
        do {
            try file?.save(conversation)
        } catch {
            throw SavingError(underlying: error)
        }
    }

    /// Takes note of a failure; whether another provider is asked.
    private func goesOn(
        after failure: ProviderFailure, of provider: any Provider, _ question: String
    ) -> Bool {
        switch failure {
        case .refused:
            if refusals.question != question { refusals = (question, 0) }
            refusals.count += 1
            guard let limit = policy.refusalsBeforeFallback, refusals.count >= limit else {
                return false
            }
        case .questionTooLong, .isPrivate:
            // Nothing is wrong with the provider.
            break
        default:
            failures[provider.name] = RoutingPolicy.Failure(
                turn: turn, reason: failure.description)
        }
        return policy.fallsBack
    }

    /// So that a full disk is not taken for a provider's failure.
    private struct SavingError: Error {
        var underlying: any Error
    }
}
