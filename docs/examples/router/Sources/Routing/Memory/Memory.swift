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
        /// What stands for them; nil: nothing is left out.
        package var summary: Conversation.Summary?
        /// Why there is no summary although turns were left out.
        package var whyNoSummary: String?
    }

    /// Tokens that a prompt for this provider may have.
    func room(_ provider: any Provider) -> Int {
        min(provider.window, budget ?? .max) - answerTokens - margin
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
        let room = room(provider)
        func prompt(
            from first: Int, _ summary: Conversation.Summary? = nil
        ) async throws -> Recollection {
            try Task.checkCancellation()
            let messages = conversation.messages(
                from: first, summary: summary?.text, question: question)
            return Recollection(
                messages: messages, tokens: try await provider.tokenCount(of: messages),
                leftOut: first, summary: summary,
                whyNoSummary: first > 0 && summary?.text == nil ? "there was none to be had" : nil)
        }

        let all = conversation.turns.count
        // A message has a token at least, so of more turns nobody needs to count.
        let earliest = max(0, all - max(0, room))
        if earliest == 0 {
            let whole = try await prompt(from: 0)
            if whole.tokens <= room { return whole }
        }
        let known = conversation.summary.flatMap { $0.provider == provider.identity ? $0 : nil }
        if let known, known.turns >= max(1, earliest) {
            let shorter = try await prompt(from: known.turns, known)
            if shorter.tokens <= room { return shorter }
        }

        let bare = try await prompt(from: all)
        guard bare.tokens <= room else {
            throw ProviderFailure.questionTooLong(tokens: bare.tokens, limit: max(0, room))
        }
        // Turns take half of what is left beside the question and a summary.
        let target = bare.tokens + max(0, room - bare.tokens - summaryTokens) / 2
        let first = try await Self.first(in: max(1, earliest)..<all) {
            try await prompt(from: $0).tokens <= target
        }
        var reason = "none is wanted"
        if summaryTokens > 0 {
            do {
                var text = try await summary(
                    of: conversation, after: known, turns: first, room: room, provider, summarize)
                func told() async throws -> Recollection {
                    try await prompt(
                        from: first,
                        Conversation.Summary(text: text, turns: first, provider: provider.identity))
                }
                var recollection = try await told()
                if recollection.tokens > room, text.hasSuffix(Self.remark) {
                    // What is known is worth more than the remark behind it.
                    text.removeLast(Self.remark.count)
                    recollection = try await told()
                }
                if recollection.tokens <= room { return recollection }
                reason = "it has more tokens than there is room for"
            } catch {
                // Without a summary the conversation still goes on; a cancelled one does not.
                try Task.checkCancellation()
                reason = "\(ProviderFailure(error))"
            }
        }
        // The next turns leave it at that, too.
        var told = try await prompt(
            from: first, Conversation.Summary(text: nil, turns: first, provider: provider.identity))
        told.whyNoSummary = reason
        return told
    }

    /// The first of some numbers of which something is so, if it is so of all behind it; else their end.
    private static func first(
        in numbers: Range<Int>, where isSo: (Int) async throws -> Bool
    ) async throws -> Int {
        var (low, high) = (numbers.lowerBound, max(numbers.lowerBound, numbers.upperBound))
        while low < high {
            let middle = low + (high - low) / 2
            if try await isSo(middle) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    /// Behind a summary that what left since did not fit into.
    private static let remark = " (More was said after that.)"

    /// A summary of the first turns: of the last summary and what has left since, as far as that fits.
    private func summary(
        of conversation: Conversation, after known: Conversation.Summary?, turns: Int, room: Int,
        _ provider: any Provider,
        _ summarize: @Sendable (_ messages: [Message], _ tokens: Int) async throws -> String
    ) async throws -> String {
        let before = known.flatMap { $0.turns <= turns && $0.text != nil ? $0 : nil }
        func messages(from first: Int) -> [Message] {
            let said = conversation.turns[first..<turns].map { turn in
                "Person: \(turn.question)\nAssistant: \(turn.answer)"
            }
            let text = ([before?.text.map { "Before: \($0)" }].compactMap { $0 } + said)
                .joined(separator: "\n")
            return [
                Message(
                    .user,
                    "\(text)\n\nSum up this conversation in two sentences: names, numbers, decisions."
                )
            ]
        }
        // The answer's room is the summary's here, which may be smaller.
        let limit = room + answerTokens - summaryTokens
        let earliest = max(before?.turns ?? 0, turns - max(0, limit))
        let first = try await Self.first(in: earliest..<turns) {
            try Task.checkCancellation()
            return try await provider.tokenCount(of: messages(from: $0)) <= limit
        }
        // Not even the last turn that left: then what is known has to do, and of nothing there is no summary.
        guard first < turns else {
            guard let text = before?.text else {
                throw ProviderFailure.other("what left has no room to be summed up in")
            }
            return text.hasSuffix(Self.remark) ? text : text + Self.remark
        }
        return try await summarize(messages(from: first), summaryTokens)
    }
}
