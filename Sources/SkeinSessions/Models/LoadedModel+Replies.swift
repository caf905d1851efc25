import SkeinBasics
import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinText
import Synchronization

extension LoadedModel: ReplySource {
    func reply(to request: ReplyRequest) -> AsyncThrowingStream<ReplyUpdate, any Error> {
        // A reply has no more updates than tokens, of which there is a limit.
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ReplyUpdate.self)
        let sink: ReplySinks.Sink
        do {
            sink = try sinks.add(continuation)
        } catch {
            switch error {
            case .ended(let flaw): continuation.finish(throwing: flaw)
            case .full(let limit):
                continuation.finish(
                    throwing: ReplyFailure.rateLimited(waiting: sinks.count, limit: limit))
            }
            return stream
        }
        // What is no longer waited for is not held either.
        let asked = Asked(request)
        continuation.onTermination = { [self] _ in
            sink.isWanted.store(false, ordering: .releasing)
            asked.take()
            if sinks.remove(sink.id) { host.engine.cancel(sink.id) }
        }
        let outcome = work.give { [self] in
            guard let request = asked.take() else { return }
            do {
                let job = try job(request, sink)
                guard sink.isWanted.load(ordering: .acquiring) else { return }
                host.engine.submit([job])
                // It may have been cancelled before there was anything to cancel.
                if !sink.isWanted.load(ordering: .acquiring) { host.engine.cancel(sink.id) }
            } catch {
                sinks.fail(sink.id, error)
            }
        }
        if let failure = failure(outcome) { sinks.fail(sink.id, failure) }
        return stream
    }

    /// Makes a job of a request. On the preparing thread.
    private func job(_ request: ReplyRequest, _ sink: ReplySinks.Sink) throws -> AnswerJob {
        let isWanted: @Sendable () -> Bool = { sink.isWanted.load(ordering: .acquiring) }
        try checkFiles()
        let projections = try projections(of: request.adapter)
        guard isWanted() else { throw CancellationError() }
        let prompt = try promptTokens(request.conversation)
        let room = contextSize - prompt.count
        guard room > 0 else {
            throw ReplyFailure.promptTooLong(tokens: prompt.count, limit: contextSize)
        }
        let limit = min(request.maximumTokens ?? room, room)
        sink.limit.store(limit, ordering: .relaxed)
        // Names of calls are functions of the conversation: others of its calls have other names, also
        // in a program that goes on from a saved transcript.
        let seed = SHA256.digest(
            of: prompt.flatMap { token in withUnsafeBytes(of: token) { Array($0) } })
        let guide = try guide(request, limit: limit, seed: seed.description, isWanted)
        var bias: [Int32: Float] = [:]
        if request.conversation.choice == .none, !request.conversation.tools.isEmpty,
            let marker = conversations.marker
        {
            bias[marker] = -.greatestFiniteMagnitude
        }
        return AnswerJob(
            request: sink.id, choice: 0, prompt: prompt, maximumTokens: limit,
            adapter: projections, sampler: request.sampler, bias: bias, stops: [],
            ignoresEnd: false, guide: guide, logprobs: nil, tellsPrompt: false, recordsEnd: false)
    }

    private func promptTokens(_ conversation: Conversation) throws -> [Int32] {
        // Before a second is spent on cutting a text that cannot fit.
        let bytes = Self.bytes(of: conversation)
        if bytes > host.mostTextBytes {
            throw ReplyFailure.promptTooLong(
                tokens: bytes / host.longestToken, limit: contextSize)
        }
        let tokens = try conversations.ids(of: conversation)
        guard !tokens.isEmpty else { throw GenerationError.emptyPrompt }
        return tokens
    }

    private func guide(
        _ request: ReplyRequest, limit: Int, seed: String,
        _ isWanted: @escaping @Sendable () -> Bool
    ) throws -> AnswerGuide {
        let conversation = request.conversation
        switch request.form {
        case .schema(let schema):
            let grammar = try host.grammars.grammar(.schema(schema), isWanted: isWanted)
            return .value(try GrammarMatcher(grammar, limit: limit, isWanted: isWanted))
        case .text:
            if conversation.tools.isEmpty || conversation.choice == .none { return .free }
            return .tools(
                try host.guide(
                    tools: conversation.tools, choice: conversation.choice, limit: limit,
                    idSeed: seed, isWanted: isWanted))
        }
    }

    func tokenCount(of text: String) async throws -> Int {
        try await counting(text.utf8.count) { [self] in try host.tokenizer.ids(of: text).count }
    }

    func tokenCount(ofBlock text: String) async throws -> Int {
        try await counting(text.utf8.count) { [self] in
            try host.tokenizer.ids(of: text, after: host.tokenizer.ids(of: "q").last).count
        }
    }

    func tokenCount(of conversation: Conversation, addsReply: Bool) async throws -> Int {
        try await counting(Self.bytes(of: conversation)) { [self] in
            try conversations.ids(of: conversation, addsReply: addsReply).count
        }
    }

    private func counting(
        _ bytes: Int, _ count: @escaping @Sendable () throws -> Int
    ) async throws -> Int {
        guard bytes <= SessionLimits.countedBytes else {
            throw ReplyFailure.textTooLong(bytes: bytes, limit: SessionLimits.countedBytes)
        }
        return try await prepare(on: counts, count)
    }

    private static func bytes(of conversation: Conversation) -> Int {
        conversation.messages.reduce(0) { sum, message in
            message.fields.reduce(sum) { $0 + ($1.value.string?.utf8.count ?? 0) }
        }
    }

    func warm(
        _ conversation: Conversation, schemas: [[UInt8]], adapter: ReplyRequest.Adapter?
    ) async throws {
        for schema in schemas {
            _ = try await prepare { [self] in try host.grammars.grammar(.schema(schema)) }
        }
        guard !conversation.messages.isEmpty else {
            // There is nothing to read, but tools have schemas.
            if conversation.tools.isEmpty { return }
            return try await prepare { [self] in
                _ = try host.guide(
                    tools: conversation.tools, choice: .auto, limit: contextSize, idSeed: "")
            }
        }
        // One token is picked and thrown away: the prompt's whole blocks stay.
        let request = ReplyRequest(
            conversation: conversation, form: .text, sampler: Sampler(), maximumTokens: 1,
            adapter: adapter)
        for try await _ in reply(to: request) {}
    }
}

/// A request until it is prepared, or no longer wanted.
private final class Asked: Sendable {
    private let request: Mutex<ReplyRequest?>

    init(_ request: ReplyRequest) { self.request = Mutex(request) }

    /// The request, the first time.
    @discardableResult
    func take() -> ReplyRequest? {
        request.withLock { request in
            defer { request = nil }
            return request
        }
    }
}

/// Why a model of this machine does not reply.
enum ReplyFailure: Error, Equatable {
    /// Others wait already.
    case rateLimited(waiting: Int, limit: Int)
    /// Prompt and reply have no room.
    case promptTooLong(tokens: Int, limit: Int)
    /// Others wait for tokens to be counted.
    case countsFull(limit: Int)
    /// A text whose tokens are asked for has no end in sight.
    case textTooLong(bytes: Int, limit: Int)
}

extension ReplyFailure: Explained {
    package var explanation: Explanation {
        switch self {
        case .rateLimited(let waiting, let limit):
            Explanation(
                what: "\(waiting) requests wait or are answered already, and the limit is \(limit)",
                remedy: "try again in a second, or raise waitingRequests in "
                    + "SystemLanguageModel.Resources", status: .usage)
        case .countsFull(let limit):
            Explanation(
                what: "\(limit) texts wait for their tokens to be counted already",
                remedy: "wait for some of them first", status: .usage)
        case .textTooLong(let bytes, let limit):
            Explanation(
                what: "the text has \(bytes) bytes, and the tokens of at most \(limit) are counted",
                remedy: "count it in parts", status: .usage)
        case .promptTooLong(let tokens, let limit):
            Explanation(
                what: "the prompt has \(tokens) tokens, and prompt and reply together may have "
                    + "\(limit)",
                remedy: "begin a new session, send a shorter prompt, drop old entries of the "
                    + "transcript, or raise contextSize in SystemLanguageModel.Resources",
                status: .usage)
        }
    }
}
