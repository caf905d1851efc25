import Foundation
import SkeinBasics
import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinNetwork
import SkeinText

/// Makes jobs of requests: reads them, renders conversations, cuts texts into tokens, compiles
/// grammars. Pure but for the models, which it asks by name; any thread may call.
struct Preparation: Sendable {
    let models: ServedModels
    let host: ModelHost
    /// Tokens of an answer whose request does not say how many.
    let answerTokens: Int
    /// How tokens are picked where a request does not say.
    let sampling: SamplingRule

    var tokenizer: Tokenizer { host.tokenizer }
    var chat: ChatPrompts { host.prompts }
    /// Tokens of prompt and answer together.
    var context: Int { host.context }
    /// The model's: ids below it have an embedding.
    private var vocabularySize: Int { host.model.configuration.vocabularySize }

    /// A chat that was read, before its grammar is made.
    struct ChatDraft: Sendable {
        fileprivate let id: RequestID
        fileprivate let names: RequestNames
        /// Without messages and arguments, which take many times the body's bytes: the prompt is made.
        let request: ChatRequest
        fileprivate let model: ServedModel
        fileprivate let prompt: [Int32]
        fileprivate let echo: String
        fileprivate let limit: Int
    }

    /// Reads a chat and makes its prompt.
    func draft(
        chat body: [UInt8], id: RequestID, _ names: RequestNames
    ) throws(APIError) -> ChatDraft {
        var request = try ChatRequest(FieldReader(body: body), randomSeed: names.randomSeed)
        let model = try models.model(named: request.model)
        try checkTokens(of: request.sampling)
        try checkLength(of: request.messages)
        let prompt = try chat.prompt(request, tokenizer)
        let limit = try limit(request.sampling, prompt: prompt.count, param: "messages")
        // Those of a stream are not kept until its end.
        if let top = request.logprobs, !request.sampling.streams {
            try checkLogprobs(
                limit * request.sampling.choices, top, "lower n or max_completion_tokens")
        }
        let echo = try echo(of: request)
        (request.messages, request.arguments) = ([], [])
        return ChatDraft(
            id: id, names: names, request: request, model: model, prompt: prompt, echo: echo,
            limit: limit)
    }

    /// The answers of a chat, with their grammar.
    ///
    /// `isWanted`: whether the client is still there; asked by whatever takes long, now and later.
    func plan(
        _ draft: ChatDraft, isWanted: @escaping @Sendable () -> Bool
    ) throws(APIError) -> AnswerPlan {
        let (id, names, request) = (draft.id, draft.names, draft.request)
        let guide = try guide(request, limit: draft.limit, idSeed: names.text(id), isWanted)
        let plan = AnswerFormat(
            .chat, id: "chatcmpl-" + names.text(id), model: draft.model.answeringName,
            created: names.created, sampling: request.sampling, prompts: 1,
            echoes: [.init(text: draft.echo)], logprobs: request.logprobs, form: request.form)
        return AnswerPlan(
            jobs: jobs(
                id, draft.model, [draft.prompt], [draft.limit], request.sampling, [guide],
                logprobs: request.logprobs, tellsPrompt: false, recordsEnd: false), format: plan,
            dropped: dropped(guide, request.form))
    }

    /// What a chat's answer is told with: its beginning, which the client wrote.
    private func echo(of request: ChatRequest) throws(APIError) -> String {
        guard request.echoes, let last = request.messages.last, last.role == "assistant",
            let text = last["content"]?.string
        else { return "" }
        guard text.utf8.count * request.sampling.choices <= Limits.echoBytes else {
            throw .invalid(
                "echo", "the echoed message has more than \(Limits.echoBytes) bytes in all answers")
        }
        return text
    }

    /// A request to /v1/completions that was read, before its grammar is made.
    struct CompletionDraft: Sendable {
        fileprivate let id: RequestID
        fileprivate let names: RequestNames
        /// Without prompts.
        let request: CompletionRequest
        fileprivate let model: ServedModel
        fileprivate let prompts: [[Int32]]
        fileprivate let limits: [Int]
        fileprivate let echoes: [AnswerFormat.Echo]
    }

    /// Reads a request to /v1/completions and makes its prompts.
    func draft(
        completion body: [UInt8], id: RequestID, _ names: RequestNames
    ) throws(APIError) -> CompletionDraft {
        var request = try CompletionRequest(FieldReader(body: body), randomSeed: names.randomSeed)
        let model = try models.model(named: request.model)
        try checkTokens(of: request.sampling)
        guard request.prompts.count * request.sampling.choices <= Limits.answers else {
            throw .invalid("n", "a request has at most \(Limits.answers) answers")
        }
        var (prompts, echoes): ([[Int32]], [AnswerFormat.Echo]) = ([], [])
        var limits: [Int] = []
        for prompt in request.prompts {
            let tokens: [Int32]
            switch prompt {
            case .text(let text):
                tokens = try self.tokens(text, special: request.addsSpecialTokens)
            case .tokens(let ids):
                guard ids.allSatisfy({ Int($0) < vocabularySize }) else {
                    throw .invalid(
                        "prompt", "token ids are from 0 to \(vocabularySize - 1)")
                }
                tokens = ids
            }
            guard !tokens.isEmpty else {
                throw .invalid("prompt", "a prompt has at least one token")
            }
            let limit = try limit(request.sampling, prompt: tokens.count, param: "prompt")
            prompts.append(tokens)
            limits.append(limit)
            switch prompt {
            case _ where !request.echoes: echoes.append(.init())
            case .text(let text):
                echoes.append(.init(text: text, hiddenTokens: addedTokens(tokens, to: text)))
            case .tokens(let ids): echoes.append(.init(text: tokenizer.decode(ids)))
            }
        }
        let echoed = echoes.reduce(0) { $0 + $1.text.utf8.count }
        guard echoed * request.sampling.choices <= Limits.echoBytes else {
            throw .invalid(
                "echo",
                "the echoed prompts have more than \(Limits.echoBytes) bytes in all answers: send "
                    + "fewer prompts, or a smaller n")
        }
        try checkLogprobs(request, prompts, limits)
        request.prompts = []
        return CompletionDraft(
            id: id, names: names, request: request, model: model, prompts: prompts,
            limits: limits, echoes: echoes)
    }

    /// The answers of a request to /v1/completions, with their grammar.
    ///
    /// `isWanted`: whether the client is still there; asked by whatever takes long, now and later.
    func plan(
        _ draft: CompletionDraft, isWanted: @escaping @Sendable () -> Bool
    ) throws(APIError) -> AnswerPlan {
        let (id, names, request) = (draft.id, draft.names, draft.request)
        // Once for all prompts.
        let grammar = try self.grammar(request.form, isWanted)
        var guides: [AnswerGuide] = []
        for limit in draft.limits {
            guides.append(try guide(request.form, grammar, limit: limit, isWanted))
        }
        let format = AnswerFormat(
            .completion, id: "cmpl-" + names.text(id), model: draft.model.answeringName,
            created: names.created, sampling: request.sampling, prompts: draft.prompts.count,
            echoes: draft.echoes, logprobs: request.logprobs, form: request.form)
        return AnswerPlan(
            jobs: jobs(
                id, draft.model, draft.prompts, draft.limits, request.sampling, guides,
                logprobs: request.logprobs,
                tellsPrompt: request.echoes && request.logprobs != nil, recordsEnd: true),
            format: format,
            dropped: guides.first.map { dropped($0, request.form) } ?? DroppedParts())
    }

    private func checkLogprobs(
        _ request: CompletionRequest, _ prompts: [[Int32]], _ limits: [Int]
    ) throws(APIError) {
        guard let top = request.logprobs else { return }
        let echoed = request.echoes ? prompts.reduce(0) { $0 + $1.count } : 0
        try checkLogprobs(
            (echoed + limits.reduce(0, +)) * request.sampling.choices, top,
            "send fewer prompts, or set max_tokens")
        guard
            !request.sampling.streams
                || echoed * (1 + top) * request.sampling.choices <= Limits.streamedLogprobEntries
        else {
            throw .invalid(
                "stream", "log-probabilities of long prompts are not streamed: leave stream out")
        }
    }

    /// Refuses answers of so many tokens with so many of the likeliest ones each that their JSON would
    /// take more memory than there is for it (`Limits.writingBytes`).
    private func checkLogprobs(_ tokens: Int, _ top: Int, _ remedy: String) throws(APIError) {
        guard tokens * (1 + top) > Limits.logprobEntries else { return }
        throw .invalid(
            "logprobs",
            "\(tokens) tokens with log-probabilities of \(1 + top) each are more than "
                + "\(Limits.logprobEntries): \(remedy)")
    }

    /// The answers of a request, those to one prompt one after another; each has a seed of its own.
    private func jobs(
        _ id: RequestID, _ model: ServedModel, _ prompts: [[Int32]], _ limits: [Int],
        _ sampling: SamplingRequest, _ guides: [AnswerGuide], logprobs: Int?, tellsPrompt: Bool,
        recordsEnd: Bool
    ) -> [AnswerJob] {
        var jobs: [AnswerJob] = []
        for (place, prompt) in prompts.enumerated() {
            for choice in 0..<sampling.choices {
                var sampler = self.sampling.sampler(
                    for: sampling.wish, hasAdapter: model.isAdapter)
                sampler.seed &+= UInt64(choice)
                jobs.append(
                    AnswerJob(
                        request: id, choice: jobs.count, prompt: prompt,
                        maximumTokens: limits[place], adapter: model.projections,
                        sampler: sampler, bias: sampling.bias, stops: sampling.stops,
                        stopTokens: sampling.stopTokens, ignoresEnd: sampling.ignoresEnd,
                        guide: guides[place].naming(choice: choice),
                        logprobs: logprobs, tellsPrompt: tellsPrompt, recordsEnd: recordsEnd))
            }
        }
        return jobs
    }

    /// Refuses ids of tokens that the model does not have: what they ask for would be passed over.
    private func checkTokens(of sampling: SamplingRequest) throws(APIError) {
        for (param, ids) in [
            ("logit_bias", Array(sampling.bias.keys)),
            ("stop_token_ids", Array(sampling.stopTokens)),
        ] where ids.contains(where: { Int($0) >= vocabularySize }) {
            throw .invalid(param, "token ids are from 0 to \(vocabularySize - 1)")
        }
    }

    /// Tokens that an answer may have.
    private func limit(
        _ sampling: SamplingRequest, prompt: Int, param: String
    ) throws(APIError) -> Int {
        let room = context - prompt
        guard room > 0 || (room == 0 && sampling.maximumTokens == 0) else {
            throw .contextExceeded(tokens: prompt, limit: context, param: param)
        }
        return min(sampling.maximumTokens ?? answerTokens, room)
    }

    /// `special`: whether the token comes first that the model expects before every text.
    func tokens(_ text: String, special: Bool) throws(APIError) -> [Int32] {
        try checkLength(text.utf8.count, param: "prompt")
        do {
            return try special ? tokenizer.ids(ofWhole: text) : tokenizer.ids(of: text)
        } catch {
            throw APIError(error, param: "prompt")
        }
    }

    /// Tokens before those of a text that the text does not write.
    private func addedTokens(_ tokens: [Int32], to text: String) -> Int {
        guard tokenizer.addsBeginToken, let begin = tokenizer.beginID, tokens.first == begin,
            !text.utf8.starts(with: tokenizer.bytes(of: begin))
        else { return 0 }
        return 1
    }

    /// Refuses texts that cannot fit, before a second is spent on cutting them into tokens.
    private func checkLength(_ bytes: Int, param: String) throws(APIError) {
        guard bytes > host.mostTextBytes else { return }
        throw .contextExceeded(
            tokens: bytes / host.longestToken, limit: context, param: param, isAtLeast: true)
    }

    func checkLength(of messages: [ChatMessage]) throws(APIError) {
        let bytes = messages.reduce(0) { sum, message in
            message.fields.reduce(sum) { $0 + ($1.value.string?.utf8.count ?? 0) }
        }
        try checkLength(bytes, param: "messages")
    }
}

/// What differs from request to request and no client states.
struct RequestNames: Sendable {
    /// Tells the requests of one start of a server from those of others.
    let start: UInt64
    /// Seconds since 1970.
    let created: Int
    let seed: UInt64

    var randomSeed: () -> UInt64 { { seed } }

    func text(_ id: RequestID) -> String { Self.text(start, id.number) }

    static func text(_ start: UInt64, _ request: UInt64) -> String {
        func hex(_ number: UInt64) -> String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return hex(start) + hex(request)
    }
}

/// Adapters that clients load and unload.
extension Preparation {
    func loadAdapter(_ body: [UInt8]) throws(APIError) -> HTTPAnswerText {
        let fields = try FieldReader(body: body)
        guard let name = try fields.string("lora_name"), let path = try fields.string("lora_path")
        else {
            throw .invalid(nil, "lora_name and lora_path say which adapter, and from where")
        }
        guard let root = models.root else { throw .withoutRoot }
        guard ServedModels.isName(name) else {
            let error = ServeError.badName(name: APIError.printable(name), from: .request)
            throw APIError(error, param: "lora_name")
        }
        do {
            try models.load(name, path: try root.resolveAdapter(path))
        } catch {
            switch error as? ServeError {
            case .nameTaken?:
                var problem = APIError(error, param: "lora_name")
                problem.code = "name_taken"
                throw problem
            case .badName?: throw APIError(error, param: "lora_name")
            case .tooManyAdapters?:
                var problem = APIError(error)
                problem.code = "too_many_adapters"
                throw problem
            default: throw APIError(error, param: "lora_path").hiding(root.path)
            }
        }
        return HTTPAnswerText(text: "Success: LoRA adapter '\(name)' added successfully.")
    }

    func unloadAdapter(_ body: [UInt8]) throws(APIError) -> HTTPAnswerText {
        let fields = try FieldReader(body: body)
        guard let name = try fields.string("lora_name") else {
            throw fields.wrong("lora_name", "the name of an adapter")
        }
        guard models.root != nil else { throw .withoutRoot }
        guard models.unload(name) else {
            throw .unknownModel(name, known: models.list.dropFirst().map(\.id))
        }
        return HTTPAnswerText(text: "Success: LoRA adapter '\(name)' removed successfully.")
    }
}

/// A plain text for a client, in vLLM's words where its clients look for them.
struct HTTPAnswerText: Sendable {
    var text: String
}

extension APIError {
    static let withoutRoot = APIError(
        .forbidden,
        "adapters are not loaded at run time here: start skein serve with --adapter-root",
        code: "adapter_root_missing")
}
