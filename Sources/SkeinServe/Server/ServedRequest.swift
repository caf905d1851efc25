import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinNetwork
import Synchronization

/// One request from its last byte to the end of its answer. Lives on the server's thread.
final class ServedRequest {
    let id: RequestID
    let endpoint: String
    let owner: RequestOwner
    /// What it is called in the log and for its client.
    let name: String
    private let reply: HTTPReply
    /// Headers that let another site's page read the answer, and what else is said beside it.
    private var headers: [(name: String, value: String)]
    /// Whether its client still waits; other threads ask.
    let isWanted = WantedFlag()
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let began: ContinuousClock.Instant
    private var format: AnswerFormat?
    private var writer: AnswerWriter?
    private var stream: EventStream?
    /// When each answer had its last tokens.
    private var lastToken: [ContinuousClock.Instant?] = []
    /// An answer that is made, and too large to be written on this thread.
    private var unwritten: AnswerWriter?
    /// A chunk of a stream, likewise. Until it is written, what the engine tells is held.
    private var unwrittenChunk: JSONValue?
    private var isHolding = false
    /// What the engine told and its client was not: a chunk before it is being written, or the client is
    /// slow to take what was sent. The site bounds what all of them hold.
    private var held: [AnswerEvent] = []
    /// How many of those have been told.
    private var told = 0
    /// Bytes that the others take, roughly.
    private(set) var heldBytes = 0
    /// How many of them the site has counted.
    var countedBytes = 0
    /// Called when a slow client has taken so much that it can be told more.
    var onRoom: () -> Void = {}
    /// Whether a thread of `PreparationThreads` has work for it, or will.
    var isWithThreads = false
    /// Bytes of its body, as long as that waits for such a thread.
    var bodyBytes = 0
    /// Whether the server ended it because it stops.
    var wasCutOff = false
    /// What it ended with; nil: it goes on.
    private(set) var status: HTTPStatus?
    private(set) var answerTokens = 0
    private(set) var promptTokens = 0
    private(set) var cachedTokens = 0

    init(
        _ id: RequestID, endpoint: String, owner: RequestOwner, name: String, reply: HTTPReply,
        headers: [(name: String, value: String)],
        clock: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.id = id
        self.endpoint = endpoint
        self.owner = owner
        self.name = name
        self.reply = reply
        self.headers = headers
        self.clock = clock
        began = clock()
    }

    var isOpen: Bool { reply.isOpen }
    /// Whether the server gave the client up.
    var wasDropped: Bool { reply.wasDropped }
    var seconds: Double { (clock() - began) / .seconds(1) }

    /// Learns how the answer is told.
    func plan(_ plan: AnswerPlan, _ names: TokenNames) {
        isPlanned = true
        let format = plan.format
        self.format = format
        if let header = plan.dropped.header { headers.append(header) }
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

    /// Begins a stream before there is a token for it.
    func beginWaiting() {
        guard status == nil, isOpen, stream == nil else { return }
        openedStream.comment("waiting")
    }

    /// The model that answers; nil: it is not known yet.
    var model: String? { format?.model }

    func fail(_ error: APIError) {
        guard status == nil else { return }
        guard let stream else { return respond(error.response) }
        // The status has been sent; a client sees the error in the stream.
        status = error.status
        stream.send(nil, error.json.written)
        stream.send(nil, "[DONE]")
        stream.end()
    }

    /// Takes what the engine tells.
    func take(_ event: AnswerEvent, _ metrics: ServeMetrics) {
        guard status == nil, writer != nil else { return }
        // What is held came now, too.
        count(event, metrics)
        if case .cut = event.content { return }
        held.append(event)
        heldBytes += event.heldBytes
        tellHeld(metrics)
    }

    /// Tells what is held, as far as the client takes it.
    func tellHeld(_ metrics: ServeMetrics) {
        // Sending may be the moment in which the client turns out to be gone.
        while status == nil, isOpen, !isHolding, told < held.count, stream?.hasRoom ?? true {
            let event = held[told]
            guard tell(event, metrics) else { break }
            heldBytes -= event.heldBytes
            told += 1
        }
        if told == held.count {
            (held, told) = ([], 0)
        } else if told > held.count / 2 {
            held.removeFirst(told)
            told = 0
        }
    }

    /// Gives the client up.
    func drop() { reply.drop() }

    /// Counts what an answer took.
    func count(_ event: AnswerEvent, _ metrics: ServeMetrics) {
        guard isPlanned else { return }
        switch event.content {
        case .piece: note(event.choice, metrics)
        case .finished(let end):
            count(
                CutAnswer(
                    choice: event.choice, promptTokens: end.promptTokens,
                    cachedTokens: end.cachedTokens, answerTokens: end.answerTokens), metrics)
        case .cut(let answer): count(answer, metrics)
        case .failed: break
        }
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
        case .failed(let error): fail(APIError(answer: error, writer.format.form))
        case .cut: break
        case .piece(let piece):
            if writer.format.streams {
                send(writer.chunks(index, piece))
            } else {
                writer.keep(index, piece)
            }
        case .finished(let end):
            guard writer.format.streams else {
                writer.keep(index, end)
                if writer.isComplete { finish(writer) }
                return true
            }
            let chunks = writer.lastChunks(index, end)
            if writer.isComplete { finish(writer, chunks) } else { send(chunks) }
        }
        return true
    }

    private func finish(_ writer: AnswerWriter) {
        if writer.size > Limits.writtenBytes {
            unwritten = writer
        } else {
            respond(HTTPResponse(json: writer.whole))
        }
    }

    /// Ends a stream with these chunks.
    private func finish(_ writer: AnswerWriter, _ chunks: [JSONValue]) {
        let stream = openedStream
        status = .ok
        let last = chunks + [writer.usageChunk].compactMap { $0 }
        stream.send(last.map { $0.written } + ["[DONE]"])
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
    func takeUnwrittenChunk() -> JSONValue? {
        defer { unwrittenChunk = nil }
        return unwrittenChunk
    }

    /// Sends the chunk that others have written, and goes on with what came meanwhile.
    func resume(with chunk: String, _ metrics: ServeMetrics) {
        guard status == nil else { return }
        openedStream.send(nil, chunk)
        isHolding = false
        tellHeld(metrics)
    }

    private func send(_ chunks: [JSONValue]) {
        openedStream.send(chunks.map { $0.written })
    }

    private var openedStream: EventStream {
        if let stream { return stream }
        let opened = reply.beginEvents(headers: headers)
        opened.onRoom = { [weak self] in self?.onRoom() }
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

    /// Counts the tokens of an answer that has ended, or was ended.
    func count(_ answer: CutAnswer, _ metrics: ServeMetrics) {
        answerTokens += answer.answerTokens
        metrics.answerTokens += answer.answerTokens
        guard let format, answer.choice % format.choices == 0 else { return }
        promptTokens += answer.promptTokens
        cachedTokens += answer.cachedTokens
        metrics.promptTokens += answer.promptTokens
        metrics.cachedTokens += answer.cachedTokens
    }
}

extension AnswerEvent {
    /// Bytes that it takes while it is held, roughly: its text, 48 for a token and 8 for each of the
    /// likeliest beside it.
    fileprivate var heldBytes: Int {
        guard case .piece(let piece) = content else { return 128 }
        let tokens = [piece.tokens, piece.promptTokens].joined()
            .reduce(0) { $0 + 48 + 8 * $1.top.count }
        let tools = piece.tools.reduce(0) { sum, event in
            if case .arguments(_, let text) = event {
                sum + 64 + text.utf8.count
            } else {
                sum + 128
            }
        }
        return 192 + piece.text.utf8.count + tokens + tools
    }
}

/// Whether a piece of work is still wanted.
final class WantedFlag: Sendable {
    private let value = Atomic<Bool>(true)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func clear() { value.store(false, ordering: .relaxed) }
}
