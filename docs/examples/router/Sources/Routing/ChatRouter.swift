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
    private var refusals = 0
    /// Questions that were asked, answered or not.
    private var turn = 0
    private var current: Task<Void, Never>?

    /// What happens on the way to an answer, in its order.
    package enum Event: Sendable, Equatable {
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
    /// - Throws: `RouterError.sameName`; `RouterError.unknownProvider` if the policy has chosen nobody of them.
    package init(
        providers: [any Provider], conversation: Conversation = Conversation(),
        policy: RoutingPolicy = RoutingPolicy(), memory: Memory = Memory(),
        patience: Patience = Patience(), file: ConversationFile? = nil
    ) throws {
        for (index, provider) in providers.enumerated()
        where providers[..<index].contains(where: { $0.name == provider.name }) {
            throw RouterError.sameName(provider.name)
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

    /// From now on nothing of this conversation leaves the machine.
    package func makePrivate() {
        conversation.isPrivate = true
    }

    /// A new conversation with the same instructions. Providers that failed still rest.
    package func forget() throws {
        conversation = Conversation(
            instructions: conversation.instructions, isPrivate: conversation.isPrivate)
        try file?.save(conversation)
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
        // An answer that was stopped is put away before the next question.
        if let current, current.isCancelled { await current.value }
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
        for (provider, why) in order.asked {
            tell(.asking(provider: provider.name, why: why))
            route.attempts.append(Route.Attempt(provider: provider.name, why: why))
            var shown = ""
            do {
                try await answer(question, by: provider, &route, &shown, tell)
                failures[provider.name] = nil
                refusals = 0
                return tell(.answered(route))
            } catch let error where Task.isCancelled || error is CancellationError {
                route.isCutShort = true
                route.attempts[route.attempts.count - 1].failure = "you stopped it"
                if !shown.isEmpty { try keep(question, shown, provider, isCutShort: true) }
                throw CancellationError()
            } catch let error as SavingError {
                throw error.underlying
            } catch {
                let failure = ProviderFailure(error)
                route.attempts[route.attempts.count - 1].failure = failure.description
                tell(
                    .failed(
                        provider: provider.name, reason: failure.description,
                        shown: shown.count))
                guard goesOn(after: failure, of: provider) else {
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
        let prompt = try await memory.recollection(
            of: conversation, question: question, for: provider
        ) { [patience] messages, tokens in
            var text = ""
            for try await piece in patience.watching(provider.answer(to: messages, tokens: tokens))
            {
                text += piece
            }
            try Task.checkCancellation()
            guard text.contains(where: { !$0.isWhitespace }) else { throw ProviderFailure.empty }
            return text
        }
        try Task.checkCancellation()
        route.promptTokens = prompt.tokens
        route.leftOut = prompt.leftOut
        route.isSummarized = prompt.summary != nil
        if prompt.leftOut > 0 {
            tell(
                .leftOut(
                    turns: prompt.leftOut, summary: prompt.summary?.text,
                    whyNot: prompt.whyNoSummary))
        }
        let pieces = patience.watching(
            provider.answer(to: prompt.messages, tokens: memory.answerTokens))
        for try await piece in pieces where !piece.isEmpty {
            shown += piece
            tell(.text(piece))
        }
        try Task.checkCancellation()
        guard shown.contains(where: { !$0.isWhitespace }) else { throw ProviderFailure.empty }
        route.provider = provider.name
        if let summary = prompt.summary { conversation.summary = summary }
        try keep(question, shown, provider, isCutShort: false)
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
    private func goesOn(after failure: ProviderFailure, of provider: any Provider) -> Bool {
        switch failure {
        case .refused:
            refusals += 1
            guard let limit = policy.refusalsBeforeFallback, refusals >= limit else { return false }
        case .questionTooLong:
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
