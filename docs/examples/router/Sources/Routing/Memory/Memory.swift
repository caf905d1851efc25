/// What a provider is told of a conversation: all of it, or as much of its end as fits, with a summary of the rest.
package struct Memory: Sendable {
    /// Tokens for the answer.
    package var answerTokens = 256
    /// Tokens that stay free, because counts of servers are estimates.
    package var margin = 32
    /// Tokens of a summary; 0: older turns are left out without one.
    package var summaryTokens = 96
    /// Tokens of a prompt and its answer, where a provider's window would allow more.
    package var budget: Int?

    package init() {}

    /// What a provider is told, and what is kept back.
    package struct Recollection: Sendable, Equatable {
        package var messages: [Message]
        package var tokens: Int
        /// How many of the oldest turns are not in it.
        package var leftOut: Int
        /// What stands for them.
        package var summary: Conversation.Summary?
        /// Why there is no summary although turns were left out.
        package var whyNoSummary: String?
    }

    /// Composes a prompt for one provider. Where old turns have to leave, enough of them do to make room for turns to
    /// come: a summary at each turn would cost a request, and the provider its cached prefix.
    ///
    /// - Parameters:
    ///   - conversation: what was said.
    ///   - question: what is asked now.
    ///   - provider: who will be asked, and who counts.
    ///   - summarize: asks that provider for a summary: messages and a limit in tokens to a text.
    /// - Returns: a prompt that fits into the provider's window with its answer.
    /// - Throws: `ProviderFailure.questionTooLong` if not even the question fits; what counting throws.
    package func recollection(
        of conversation: Conversation, question: String, for provider: any Provider,
        summarize: @Sendable (_ messages: [Message], _ tokens: Int) async throws -> String
    ) async throws -> Recollection {
        let room = min(provider.window, budget ?? .max) - answerTokens - margin
        func prompt(from first: Int, _ summary: Conversation.Summary? = nil) async throws
            -> Recollection
        {
            let messages = conversation.messages(
                from: first, summary: summary?.text, question: question)
            return Recollection(
                messages: messages, tokens: try await provider.tokenCount(of: messages),
                leftOut: first, summary: summary)
        }

        let whole = try await prompt(from: 0)
        if whole.tokens <= room { return whole }
        if let summary = conversation.summary, summary.turns > 0 {
            let known = try await prompt(from: summary.turns, summary)
            if known.tokens <= room { return known }
        }

        let all = conversation.turns.count
        let bare = try await prompt(from: all)
        guard bare.tokens <= room else {
            throw ProviderFailure.questionTooLong(
                tokens: bare.tokens, limit: max(0, room))
        }
        // Turns take half of what is left beside the question and a summary.
        let target = bare.tokens + max(0, room - bare.tokens - summaryTokens) / 2
        var first = 1
        var end = all
        while first < end {
            let middle = (first + end) / 2
            if try await prompt(from: middle).tokens <= target {
                end = middle
            } else {
                first = middle + 1
            }
        }
        var found = try await prompt(from: first)
        guard summaryTokens > 0 else {
            found.whyNoSummary = "none is wanted"
            return found
        }
        do {
            let summary = try await self.summary(
                of: conversation, turns: first, room: room, provider, summarize)
            let summarized = try await prompt(from: first, summary)
            if summarized.tokens <= room { return summarized }
            found.whyNoSummary = "it has more tokens than there is room for"
        } catch {
            // Without a summary the conversation still goes on; a cancelled one does not.
            try Task.checkCancellation()
            found.whyNoSummary = "\(ProviderFailure(error))"
        }
        return found
    }

    /// A summary of the first turns: of the last summary and what has left since, as far as that fits.
    private func summary(
        of conversation: Conversation, turns: Int, room: Int, _ provider: any Provider,
        _ summarize: @Sendable (_ messages: [Message], _ tokens: Int) async throws -> String
    ) async throws -> Conversation.Summary {
        let known = conversation.summary.flatMap { $0.turns <= turns ? $0 : nil }
        var first = known?.turns ?? 0
        while true {
            let said = conversation.turns[first..<turns].map { turn in
                "Person: \(turn.question)\nAssistant: \(turn.answer)"
            }
            let text = ([known.map { "Before: \($0.text)" }].compactMap { $0 } + said)
                .joined(separator: "\n")
            let messages = [
                Message(
                    .user,
                    "\(text)\n\nSum up this conversation in two sentences: names, numbers, decisions."
                )
            ]
            // The answer's room is the summary's here, which may be smaller.
            let fits =
                try await provider.tokenCount(of: messages) + summaryTokens <= room + answerTokens
            if fits || first == turns {
                guard fits else {
                    throw ProviderFailure.other("what left has no room to be summed up in")
                }
                let summary = try await summarize(messages, summaryTokens)
                return Conversation.Summary(text: summary, turns: turns)
            }
            first += 1
        }
    }
}
