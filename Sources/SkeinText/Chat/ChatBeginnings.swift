import SkeinJSON

/// Beginnings of one conversation, rendered at once (`SharedTemplateRun`).
package struct ChatBeginnings {
    /// Which messages are shown, and what follows them.
    package struct Beginning: Hashable {
        /// How many messages there are, from the first one.
        package var messages: Int
        package var addsPrompt: Bool

        package init(messages: Int, addsPrompt: Bool) {
            self.messages = messages
            self.addsPrompt = addsPrompt
        }
    }

    private let renderings: [Beginning: Result<ChatRendering, TemplateError>]
    /// Steps of all renderings, what they have in common counted once. For tests.
    let work: Int

    fileprivate init(
        _ beginnings: [Beginning], _ body: [TemplateStatement],
        _ interpreter: TemplateInterpreter
    ) throws {
        let run = try SharedTemplateRun(body, interpreter)
        work = run.work
        var renderings: [Beginning: Result<ChatRendering, TemplateError>] = [:]
        for (beginning, result) in zip(beginnings, run.results) {
            renderings[beginning] = result?.map(ChatRendering.init)
        }
        self.renderings = renderings
    }

    /// The rendering of a beginning; nil if it was not asked for.
    ///
    /// - Throws: what rendering it throws.
    package func rendering(_ messages: Int, addsPrompt: Bool) throws -> ChatRendering? {
        try renderings[Beginning(messages: messages, addsPrompt: addsPrompt)]?.get()
    }
}

extension ChatTemplate {
    /// Renders beginnings of a conversation, each as `render` does.
    ///
    /// - Parameters:
    ///   - beginnings: which ones.
    ///   - messages: the whole conversation.
    ///   - tokens: `bos_token` and `eos_token`.
    ///   - tools: what the model may call, as JSON schemas.
    ///   - arguments: further variables, such as `enable_thinking`.
    /// - Returns: nil if they have to be rendered one by one: the template holds what cannot be
    ///   copied, or comes near a limit.
    package func beginnings(
        _ beginnings: Set<ChatBeginnings.Beginning>, of messages: [ChatMessage],
        tokens: TemplateTokens, tools: JSONValue? = nil, arguments: [JSONField] = []
    ) -> ChatBeginnings? {
        let ordered = beginnings.filter { (0...messages.count).contains($0.messages) }.sorted {
            ($0.messages, $0.addsPrompt ? 1 : 0) < ($1.messages, $1.addsPrompt ? 1 : 0)
        }
        guard let most = ordered.last?.messages else { return nil }
        do {
            var (interpreter, variables) = try prepared(
                messages.prefix(most), tokens, tools, arguments)
            let conversation = variables["messages"]
            guard case .list(let list)? = conversation else { return nil }
            variables["messages"] = .growing(
                TemplateGrowth(items: list.items, first: 0, shift: 0))
            var runs: [TemplateVarying.Run] = []
            for (index, beginning) in ordered.enumerated() {
                let run = TemplateVarying.Run(
                    first: index, scale: 0, constant: beginning.addsPrompt ? 1 : 0)
                if runs.last?.isSame(as: run) != true { runs.append(run) }
            }
            variables["add_generation_prompt"] = .varying(TemplateVarying(runs, isBool: true))
            interpreter.variants = TemplateVariants(
                counts: ordered.map(\.messages), active: Array(ordered.indices)[...])
            interpreter.log = TemplateLog()
            interpreter.frames = [variables]
            return try ChatBeginnings(ordered, body, interpreter)
        } catch {
            // Rendered one by one, each beginning throws what is wrong with it.
            return nil
        }
    }
}
