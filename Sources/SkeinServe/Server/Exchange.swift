import SkeinAnswers
import SkeinBasics
import SkeinHTTP
import Synchronization

/// One request from its last byte to the end of its answer. Lives on the server's thread.
final class Exchange {
    let id: RequestID
    let endpoint: String
    let owner: RequestOwner
    private let reply: HTTPReply
    /// Headers that let another site's page read the answer.
    private let headers: [(name: String, value: String)]
    /// Whether its client still waits; other threads ask.
    let isWanted = WantedFlag()
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let began: ContinuousClock.Instant
    private var writer: AnswerWriter?
    private var stream: EventStream?
    /// When each answer had its last tokens.
    private var lastToken: [ContinuousClock.Instant?] = []
    /// An answer that is made, and too large to be written on this thread.
    private var unwritten: AnswerWriter?
    /// A chunk of a stream, likewise. Until it is written, what the engine tells is held, of which there
    /// is no more than the answers have.
    private var unwrittenChunk: JSONLine.Value?
    private var isHolding = false
    private var held: [AnswerEvent] = []
    /// How many of those have been told; the next one's prompt is being written.
    private var told = 0
    /// Whether a thread of `PreparationThreads` has work for it, or will.
    var isWithThreads = false
    /// What it ended with; nil: it goes on.
    private(set) var status: HTTPStatus?
    private(set) var answerTokens = 0
    private(set) var promptTokens = 0
    private(set) var cachedTokens = 0

    init(
        _ id: RequestID, endpoint: String, owner: RequestOwner, reply: HTTPReply,
        headers: [(name: String, value: String)],
        clock: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.id = id
        self.endpoint = endpoint
        self.owner = owner
        self.reply = reply
        self.headers = headers
        self.clock = clock
        began = clock()
    }

    var isOpen: Bool { reply.isOpen }
    var seconds: Double { (clock() - began) / .seconds(1) }

    /// Learns how the answer is told.
    func plan(_ format: AnswerFormat, _ names: TokenNames) {
        isPlanned = true
        writer = AnswerWriter(format, names)
        lastToken = Array(repeating: nil, count: format.answers)
    }

    /// Whether the engine has its jobs.
    private(set) var isPlanned = false

    /// Answers at once.
    func respond(_ response: HTTPResponse) {
        guard status == nil else { return }
        status = response.status
        var response = response
        response.headers += headers
        reply.respond(response)
    }

    func fail(_ error: APIError) {
        guard status == nil else { return }
        guard let stream else { return respond(error.response) }
        // The status has been sent; a client sees the error in the stream.
        status = error.status
        stream.send(nil, JSONLine.render(error.json))
        stream.send(nil, "[DONE]")
        stream.end()
    }

    /// Takes what the engine tells.
    func take(_ event: AnswerEvent, _ metrics: ServeMetrics) {
        guard status == nil, writer != nil else { return }
        // What is held came now, too.
        if case .piece = event.content { note(event.choice, metrics) }
        if isHolding || !tell(event, metrics) { held.append(event) }
    }

    /// - Returns: false if the prompt that the event's answer begins with is to be written first.
    private func tell(_ event: AnswerEvent, _ metrics: ServeMetrics) -> Bool {
        guard var writer else { return true }
        self.writer = nil
        defer { if self.writer == nil { self.writer = writer } }
        let index = event.choice
        // An error is told without the prompt.
        if !event.isFailure, let chunk = writer.takeLongEcho(index) {
            (unwrittenChunk, isHolding) = (chunk, true)
            return false
        }
        switch event.content {
        case .failed(let error): fail(APIError(answer: error))
        case .piece(let piece):
            if writer.format.streams {
                send(writer.chunks(index, piece))
            } else {
                writer.keep(index, piece)
            }
        case .finished(let end):
            note(end, index, writer.format, metrics)
            if writer.format.streams {
                send(writer.lastChunks(index, end))
            } else {
                writer.keep(index, end)
            }
            if writer.isComplete { finish(writer) }
        }
        return true
    }

    private func finish(_ writer: AnswerWriter) {
        guard writer.format.streams, let stream else {
            if writer.size > Limits.writtenBytes {
                unwritten = writer
            } else {
                respond(HTTPResponse(json: writer.whole))
            }
            return
        }
        status = .ok
        if let usage = writer.usageChunk { stream.send(nil, JSONLine.render(usage)) }
        stream.send(nil, "[DONE]")
        stream.end()
    }

    /// The answer that others are to write; once.
    func takeUnwritten() -> AnswerWriter? {
        guard let large = unwritten else { return nil }
        unwritten = nil
        writer = nil
        return large
    }

    /// The chunk of a stream that others are to write; once.
    func takeUnwrittenChunk() -> JSONLine.Value? {
        defer { unwrittenChunk = nil }
        return unwrittenChunk
    }

    /// Sends the chunk that others have written, and goes on with what came meanwhile.
    func resume(with chunk: String, _ metrics: ServeMetrics) {
        guard status == nil else { return }
        openedStream.send(nil, chunk)
        isHolding = false
        // Sending may be the moment in which the client turns out to be gone.
        while status == nil, isOpen, !isHolding, told < held.count {
            if tell(held[told], metrics) { told += 1 }
        }
        if !isHolding { (held, told) = ([], 0) }
    }

    private func send(_ chunks: [JSONLine.Value]) {
        let stream = openedStream
        for chunk in chunks { stream.send(nil, JSONLine.render(chunk)) }
    }

    private var openedStream: EventStream {
        if let stream { return stream }
        let opened = reply.beginEvents(headers: headers)
        stream = opened
        return opened
    }

    private func note(_ index: Int, _ metrics: ServeMetrics) {
        let now = clock()
        if let last = lastToken[index] {
            metrics.nextToken.add((now - last) / .seconds(1))
        } else {
            metrics.firstToken.add((now - began) / .seconds(1))
        }
        lastToken[index] = now
    }

    private func note(
        _ end: AnswerEnd, _ index: Int, _ format: AnswerFormat, _ metrics: ServeMetrics
    ) {
        answerTokens += end.answerTokens
        metrics.answerTokens += end.answerTokens
        guard index % format.choices == 0 else { return }
        promptTokens += end.promptTokens
        cachedTokens += end.cachedTokens
        metrics.promptTokens += end.promptTokens
        metrics.cachedTokens += end.cachedTokens
    }
}

/// Whether somebody waits for a piece of work.
final class WantedFlag: Sendable {
    private let value = Atomic<Bool>(true)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func clear() { value.store(false, ordering: .relaxed) }
}
