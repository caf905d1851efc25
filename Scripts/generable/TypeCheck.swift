import Foundation
import SkeinSessions

/// Asks for values of one type, and looks at what comes.
struct TypeCheck<Value: Checked> {
    typealias Response = LanguageModelSession.Response<Value>

    let type: Int
    let models: [SystemLanguageModel]
    let seed: UInt64
    private(set) var counts = Counts()

    init(type: Int, models: [SystemLanguageModel], seed: UInt64) {
        self.type = type
        self.models = models
        self.seed = seed
    }

    mutating func run(_ numbers: Range<Int>) async -> Counts {
        for number in numbers {
            let request = Request(type: type, number: number, seed: seed)
            counts.replies += 1
            do {
                let reply = try await ask(request)
                check(reply, request)
                if request.isStreamed { await stream(request, reply) }
            } catch {
                await check(error, request)
            }
        }
        return counts
    }

    private func ask(_ request: Request) async throws -> Response {
        try await LanguageModelSession(model: models[request.window]).respond(
            to: "Value \(request.number)", generating: Value.self,
            includeSchemaInPrompt: request.includesSchema, options: request.options)
    }

    private mutating func flaw(_ what: String, _ request: Request, _ raw: GeneratedContent? = nil) {
        counts.flaws.append(
            "\(Value.self) (type \(type), seed \(seed), \(request.text)): \(what)"
                + (raw.map { "\n  \($0.jsonString)" } ?? ""))
    }

    // MARK: A value

    private mutating func check(_ reply: Response, _ request: Request) {
        let raw = reply.rawContent
        counts.decoded += 1
        counts.tokens += reply.usage.output.totalTokenCount
        if reply.wasClosedEarly { counts.closedEarly += 1 }
        if reply.wasClosedEarly && !request.options.closesAtLimit {
            flaw("closed early, and nobody asked for that", request, raw)
        }
        if reply.usage.output.totalTokenCount > request.options.maximumResponseTokens ?? .max {
            flaw("\(reply.usage.output.totalTokenCount) tokens are beyond the limit", request, raw)
        }
        var notes = Notes()
        reply.content.check("value", &notes)
        counts.compared.merge(notes.compared, uniquingKeysWith: +)
        for what in notes.flaws { flaw(what, request, raw) }
        do {
            try roundTrip(reply.content, raw, request)
        } catch {
            flaw("does not come back: \(error)", request, raw)
        }
    }

    private mutating func roundTrip(
        _ value: Value, _ raw: GeneratedContent, _ request: Request
    ) throws {
        if !raw.isComplete { flaw("the content is not complete", request, raw) }
        let read = try GeneratedContent(json: raw.jsonString)
        if read != raw { flaw("another content comes back from its text", request, raw) }
        if try Value(read) != value { flaw("another value comes back from its text", request, raw) }
        let written = value.generatedContent
        if try Value(written) != value { flaw("another value comes back", request, raw) }
        if Value.isExact, written != raw {
            flaw("it is written as \(written.jsonString)", request, raw)
        }
        if !value.isSame(as: value.asPartiallyGenerated()) {
            flaw("the partial value is another one", request, raw)
        }
        if !value.isSame(as: try Value.PartiallyGenerated(read)) {
            flaw("the partial value of its text is another one", request, raw)
        }
    }

    /// A stream with the same seed ends in the same value.
    private mutating func stream(_ request: Request, _ reply: Response) async {
        counts.streams += 1
        let stream = LanguageModelSession(model: models[request.window]).streamResponse(
            to: "Value \(request.number)", generating: Value.self,
            includeSchemaInPrompt: request.includesSchema, options: request.options)
        do {
            var last: GeneratedContent?
            var isSame = false
            for try await snapshot in stream {
                last = snapshot.rawContent
                isSame = reply.content.isSame(as: snapshot.content)
            }
            if last != reply.rawContent || !isSame {
                flaw(
                    "its last snapshot is \(last?.jsonString ?? "nothing")", request,
                    reply.rawContent)
            }
            let whole = try await stream.collect()
            if whole.content != reply.content || whole.wasClosedEarly != reply.wasClosedEarly {
                flaw("its stream collects another value", request, reply.rawContent)
            }
        } catch {
            flaw("its stream fails: \(error)", request, reply.rawContent)
        }
    }

    // MARK: An error

    /// An error is stated, and it is true: without the limit that it names, there is a value.
    private mutating func check(_ error: any Error, _ request: Request) async {
        guard case GenerationError.exceededContextWindowSize(let context) = error,
            let limit = context.limit, let count = context.count
        else { return flaw("\(error)", request) }
        if request.options.closesAtLimit {
            return await checkTooShort(count, limit, request)
        }
        var closing = request
        closing.options.closesAtLimit = true
        do {
            let reply = try await ask(closing)
            counts.cut += 1
            if !reply.wasClosedEarly {
                flaw("an error, but nothing was cut: \(error)", request, reply.rawContent)
            }
            if request.window == 0, limit != request.options.maximumResponseTokens {
                flaw("the error names another limit: \(error)", request)
            }
            if count > limit { flaw("it names \(count) tokens of \(limit)", request) }
            check(reply, closing)
            counts.decoded -= 1
            counts.closedEarly -= 1
        } catch GenerationError.exceededContextWindowSize(let again)
            where again.limit == limit && again.count == count
        {
            await checkTooShort(count, limit, request)
        } catch {
            flaw("an error, and closed: \(error)", request)
        }
    }

    /// As many tokens as the error asks for are enough.
    private mutating func checkTooShort(_ count: Int, _ limit: Int, _ request: Request) async {
        // A prompt of just as many tokens leaves none for a reply.
        if limit == Request.windows[request.window], count >= limit {
            counts.promptTooLong += 1
            return
        }
        guard count > limit else { return flaw("\(count) are not above \(limit)", request) }
        counts.tooShort += 1
        var longer = Request(type: type, number: 0, seed: seed)
        longer.options = request.options
        longer.options.maximumResponseTokens = count
        longer.options.closesAtLimit = true
        do {
            let reply = try await ask(longer)
            if reply.usage.output.totalTokenCount > count {
                flaw("\(reply.usage.output.totalTokenCount) tokens of \(count)", request)
            }
        } catch {
            flaw("\(count) tokens were asked for instead of \(limit), and now: \(error)", request)
        }
    }
}
