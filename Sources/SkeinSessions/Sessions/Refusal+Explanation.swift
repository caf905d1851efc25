extension LanguageModelSession.GenerationError.Refusal {
    /// Why there is no reply, as a text for people: the words of the check or the model that refused.
    public var explanation: LanguageModelSession.Response<String> {
        get async throws { LanguageModelSession.Response(turn, text) }
    }

    /// The same as a stream.
    public var explanationStream: LanguageModelSession.ResponseStream<String> {
        let feed = StreamFeed()
        feed.finish(.success(turn))
        return LanguageModelSession.ResponseStream(
            handle: StreamHandle(feed, nil, SessionRequest()))
    }

    private var text: String {
        if let reason { return reason }
        for entry in transcriptEntries.reversed() {
            if case .response(let response) = entry {
                return TranscriptConversation.text(response.segments)
            }
        }
        return "This request was declined."
    }

    private var turn: SessionTurn {
        SessionTurn(
            content: GeneratedContent(text), entries: transcriptEntries[...],
            usage: LanguageModelSession.Usage(), wasClosedEarly: false)
    }
}
