import SkeinBasics
import SkeinInference
import SkeinNetwork

/// Counts what happens to requests. Lives on the server's thread. An object, not a value: a send to a
/// client that has gone is heard of within the send, and counted.
final class ServeMetrics {
    /// Bounds of the histograms, in seconds.
    static let firstTokenBounds = [
        0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160,
    ]
    static let nextTokenBounds = [
        0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5,
    ]

    /// By endpoint, status and model; without one where none was known.
    private struct Kind: Hashable, Comparable {
        var endpoint: String
        var status: Int
        var model: String

        static func < (left: Kind, right: Kind) -> Bool {
            (left.endpoint, left.status, left.model) < (right.endpoint, right.status, right.model)
        }
    }

    private var requests: [Kind: Int] = [:]
    /// Tokens by model.
    private var tokens: [String: (prompt: Int, answer: Int)] = [:]
    var promptTokens = 0
    var cachedTokens = 0
    var answerTokens = 0
    /// Requests whose client went away.
    var abandoned = 0
    /// Requests whose client was given up.
    var dropped = 0
    var firstToken = MetricsText.Histogram(firstTokenBounds)
    var nextToken = MetricsText.Histogram(nextTokenBounds)

    func count(_ endpoint: String, _ status: Int, model: String? = nil) {
        requests[Kind(endpoint: endpoint, status: status, model: label(model)), default: 0] += 1
    }

    /// Counts the tokens of a request that has ended, or was ended.
    func count(_ model: String?, prompt: Int, answer: Int) {
        guard prompt + answer > 0 else { return }
        let model = label(model)
        let before = tokens[model] ?? (0, 0)
        tokens[model] = (before.prompt + prompt, before.answer + answer)
    }

    /// Checkpoints come and go without end, and a family of metrics may not grow with them.
    private func label(_ model: String?) -> String {
        guard let model else { return "" }
        if names.contains(model) { return model }
        guard names.count < Limits.countedModels else { return "other" }
        names.insert(model)
        return model
    }

    private var names: Set<String> = []

    /// As Prometheus reads it (text format 0.0.4).
    func text(
        _ engine: AnswerEngine.Figures, _ prefixes: PrefixFigures, adapters: AdapterMemory,
        open: Int, cacheLimit: Int
    ) -> String {
        var page = MetricsText()
        page.family(
            "skein_serve_requests_total", "counter",
            "Requests answered, by endpoint, status and model.")
        for (kind, count) in requests.sorted(by: { $0.key < $1.key }) {
            page.sample(
                "skein_serve_requests_total",
                ["endpoint": kind.endpoint, "status": "\(kind.status)", "model": kind.model], count)
        }
        let models = tokens.sorted { $0.key < $1.key }
        page.family(
            "skein_serve_model_prompt_tokens_total", "counter",
            "Tokens of prompts, by the model that answered.")
        for (model, count) in models {
            page.sample("skein_serve_model_prompt_tokens_total", ["model": model], count.prompt)
        }
        page.family(
            "skein_serve_model_answer_tokens_total", "counter",
            "Tokens of answers, also of those that were cut, by the model that answered.")
        for (model, count) in models {
            page.sample("skein_serve_model_answer_tokens_total", ["model": model], count.answer)
        }
        page.single(
            "skein_serve_requests_abandoned_total", "counter",
            "Requests whose client went away before the answer was complete.", abandoned)
        page.single(
            "skein_serve_requests_dropped_total", "counter",
            "Requests whose client was given up because it took too little of the answer.", dropped)
        page.single(
            "skein_serve_requests_open", "gauge", "Requests being answered or waiting.", open)
        page.single(
            "skein_serve_answers_running", "gauge", "Answers being decoded.", engine.running)
        page.single(
            "skein_serve_answers_waiting", "gauge", "Answers that wait for room.", engine.waiting)
        page.single(
            "skein_serve_prompt_tokens_total", "counter", "Tokens of prompts.", promptTokens)
        page.single(
            "skein_serve_prompt_tokens_cached_total", "counter",
            "Tokens of prompts that the prefix cache had.", cachedTokens)
        page.single(
            "skein_serve_answer_tokens_total", "counter", "Tokens of answers.", answerTokens)
        page.single(
            "skein_serve_guessed_tokens_total", "counter", "Tokens that were guessed ahead.",
            engine.guessedTokens)
        page.single(
            "skein_serve_guessed_tokens_right_total", "counter", "Guessed tokens that were right.",
            engine.rightGuesses)
        page.single(
            "skein_serve_cache_bytes", "gauge", "Keys and values of answers under way.",
            engine.cacheBytes)
        page.single(
            "skein_serve_cache_limit_bytes", "gauge", "What they may take at most.", cacheLimit)
        page.single(
            "skein_serve_prefix_cache_bytes", "gauge", "Beginnings of prompts that are kept.",
            prefixes.bytes)
        page.single(
            "skein_serve_prefix_cache_limit_bytes", "gauge", "What they may take at most.",
            prefixes.limit)
        page.single(
            "skein_serve_prefix_cache_evicted_total", "counter", "Blocks that made room.",
            prefixes.evicted)
        page.single(
            "skein_serve_adapter_bytes", "gauge", "Adapters that are loaded or held by requests.",
            adapters.heldBytes)
        page.single(
            "skein_serve_adapter_limit_bytes", "gauge", "What they may take at most.",
            adapters.byteLimit)
        page.histogram(
            "skein_serve_time_to_first_token_seconds",
            "From a request's last byte to the first token of an answer.", firstToken)
        page.histogram(
            "skein_serve_time_between_tokens_seconds",
            "Between the steps that brought tokens of one answer.", nextToken)
        return page.text
    }
}

/// What the prefix cache holds, for metrics.
struct PrefixFigures: Sendable {
    var bytes = 0
    var limit = 0
    var evicted = 0
}
