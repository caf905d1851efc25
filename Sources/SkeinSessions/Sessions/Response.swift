extension LanguageModelSession {
    /// A whole reply, as `respond` returns it: the value, and what the request took (`usage`).
    public struct Response<Content> {
        /// The value.
        public let content: Content
        /// The reply before it became the value.
        public let rawContent: GeneratedContent
        /// What the request added to the transcript: its prompt, calls and outputs of tools, the reply.
        public let transcriptEntries: ArraySlice<Transcript.Entry>
        /// Tokens and times of the request.
        public let usage: Usage
        /// Whether `GenerationOptions.closesAtLimit` made the value end before the model would have.
        public let wasClosedEarly: Bool
    }
}

extension LanguageModelSession.Response: Sendable where Content: Sendable {}

extension LanguageModelSession.Response {
    /// A reply as a value.
    ///
    /// - Throws: what converting throws.
    init(_ turn: SessionTurn, _ content: Content) {
        self.init(
            content: content, rawContent: turn.content, transcriptEntries: turn.entries,
            usage: turn.usage, wasClosedEarly: turn.wasClosedEarly)
    }
}

/// What became of a request.
struct SessionTurn: Sendable {
    /// The reply: a text, or a structure.
    var content: GeneratedContent
    var entries: ArraySlice<Transcript.Entry>
    var usage: LanguageModelSession.Usage
    var wasClosedEarly: Bool
}
