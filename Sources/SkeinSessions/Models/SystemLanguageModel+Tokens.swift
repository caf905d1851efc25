import SkeinInference
import SkeinText

extension SystemLanguageModel {
    /// Tokens of a text of some kind, as older code reads it.
    @available(*, deprecated, message: "use tokenCount(for:)")
    public struct TokenUsage: Sendable, Equatable {
        /// How many they are.
        public var tokenCount: Int
    }

    /// Tokens of a prompt's text by itself, without what the chat template writes around it.
    ///
    /// - Parameter prompt: anything that can be a prompt.
    /// - Returns: how many they are.
    /// - Throws: `LanguageModelSession.GenerationError.assetsUnavailable`; as all counts of tokens here,
    ///   `.exceededContextWindowSize` with a count and a limit in bytes for a text above 64 MiB, and
    ///   `.rateLimited` while 65,536 others wait or, before the model is loaded, more than may wait for a reply.
    nonisolated(nonsending)
        public func tokenCount(for prompt: some PromptRepresentable) async throws -> Int
    {
        try await counted(prompt.promptRepresentation.text)
    }

    /// Tokens of instructions by themselves.
    ///
    /// - Parameter instructions: of a session.
    /// - Returns: how many they are.
    /// - Throws: `LanguageModelSession.GenerationError.assetsUnavailable`.
    nonisolated(nonsending)
        public func tokenCount(for instructions: Instructions) async throws -> Int
    {
        try await counted(instructions.text)
    }

    /// Tokens that tools add to each prompt, as the model's chat template shows them; none for a tool
    /// whose `includesSchemaInInstructions` is false.
    ///
    /// - Parameter tools: of a session.
    /// - Returns: how many they are.
    /// - Throws: `LanguageModelSession.GenerationError.assetsUnavailable`; `ToolError` for tools that a
    ///   session would refuse.
    nonisolated(nonsending)
        public func tokenCount(for tools: [any Tool]) async throws -> Int
    {
        if tools.isEmpty { return 0 }
        let named: SessionTools
        do {
            named = try SessionTools(tools)
        } catch {
            throw SessionFailure.told(error)
        }
        let question = [ChatMessage(role: "user", content: "q")]
        return try await SessionFailure.wrapping {
            let source = try await self.source()
            let with = try await source.tokenCount(
                of: Conversation(
                    messages: question, tools: named.definitions,
                    shownTools: named.definitions(in: tools.presented), choice: .auto),
                addsReply: true)
            let without = try await source.tokenCount(
                of: Conversation(messages: question), addsReply: true)
            return with - without
        }
    }

    /// Tokens that a schema adds to a prompt, unless `includeSchemaInPrompt` is false.
    ///
    /// - Parameter schema: of a reply.
    /// - Returns: how many they are.
    /// - Throws: `LanguageModelSession.GenerationError`; `GenerationSchema.SchemaError`.
    nonisolated(nonsending)
        public func tokenCount(for schema: GenerationSchema) async throws -> Int
    {
        let block = try SchemaBlock(schema).text
        return try await SessionFailure.wrapping {
            try await self.source().tokenCount(ofBlock: block)
        }
    }

    /// Tokens of a transcript as a prompt, without the beginning of a reply.
    ///
    /// - Parameter entries: of a transcript.
    /// - Returns: how many they are.
    /// - Throws: `LanguageModelSession.GenerationError`.
    nonisolated(nonsending)
        public func tokenCount(
            for entries: some Collection<Transcript.Entry>
        ) async throws -> Int
    {
        let conversation = try TranscriptConversation(entries: Array(entries), tools: nil)
        return try await SessionFailure.wrapping {
            let source = try await self.source()
            let first = conversation.value.messages.first { $0.role != "system" }
            if first == nil || first?.role == "user" {
                return try await source.tokenCount(of: conversation.value, addsReply: false)
            }
            // Templates may refuse a conversation that begins with its end.
            var question = conversation.value
            question.messages = [ChatMessage(role: "user", content: "q")]
            let before = try await source.tokenCount(of: question, addsReply: false)
            question.messages += conversation.value.messages
            return try await source.tokenCount(of: question, addsReply: false) - before
        }
    }

    private nonisolated(nonsending) func counted(_ text: String) async throws -> Int {
        try await SessionFailure.wrapping { try await self.source().tokenCount(of: text) }
    }

    // MARK: Older spelling

    /// Tokens of a prompt.
    ///
    /// - Parameter prompt: anything that can be a prompt.
    /// - Returns: how many they are.
    /// - Throws: as `tokenCount(for:)`.
    @available(*, deprecated, message: "use tokenCount(for:)")
    nonisolated(nonsending)
        public func tokenUsage(for prompt: some PromptRepresentable) async throws -> TokenUsage
    {
        TokenUsage(tokenCount: try await tokenCount(for: prompt))
    }

    /// Tokens of instructions and tools.
    ///
    /// - Parameters:
    ///   - instructions: of a session.
    ///   - tools: of a session.
    /// - Returns: how many they are.
    /// - Throws: as `tokenCount(for:)`.
    @available(*, deprecated, message: "use tokenCount(for:)")
    nonisolated(nonsending)
        public func tokenUsage(
            for instructions: Instructions, tools: [any Tool] = []
        ) async throws -> TokenUsage
    {
        let count = try await tokenCount(for: instructions)
        return TokenUsage(tokenCount: count + (try await tokenCount(for: tools)))
    }

    /// Tokens of a transcript.
    ///
    /// - Parameter entries: of a transcript.
    /// - Returns: how many they are.
    /// - Throws: as `tokenCount(for:)`.
    @available(*, deprecated, message: "use tokenCount(for:)")
    nonisolated(nonsending)
        public func tokenUsage(
            for entries: some Collection<Transcript.Entry>
        ) async throws -> TokenUsage
    {
        TokenUsage(tokenCount: try await tokenCount(for: entries))
    }
}
