import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinNetwork

/// Who is answered, and what is answered at once.
extension ServeSite: HTTPSite {
    /// What a head shows to be wrong is answered before its body comes, and so is what needs none.
    func admit(_ head: HTTPRequest) -> HTTPAdmission {
        switch outcome(of: head) {
        case .response(let response): .answered(response)
        case .work: .body(limit: parts.bodyBytes)
        }
    }

    func knows(_ head: HTTPRequest) -> Bool { parts.access.knows(head) }

    func refusal(
        _ status: HTTPStatus, _ words: String, to head: HTTPRequest?
    ) -> HTTPResponse {
        var error = APIError(status, words)
        // Who has sent half a request hears what all others do.
        if status == .serviceUnavailable {
            error = isStopping ? .stopping : APIError(status, words, retryAfter: 1)
        }
        return answer(head, "-", error.response)
    }

    /// A name for a request that is answered at once.
    private func made() -> String {
        others += 1
        // From the other end: those that are answered later count upward.
        return "req-" + RequestNames.text(start, .max - others)
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        switch outcome(of: request) {
        case .response(let response): .response(response)
        case .work(let work): begin(work, request)
        }
    }

    /// What comes of a request, as far as its head decides.
    private enum Outcome {
        case response(HTTPResponse)
        /// Takes a body.
        case work(ServeWork)
    }

    private func outcome(of head: HTTPRequest) -> Outcome {
        if head.method == "OPTIONS" { return .response(parts.access.preflight(head)) }
        if let refusal = parts.access.refusal(of: head) {
            return .response(answer(head, "-", refusal.response))
        }
        guard let route = ServeRoute(head.path) else {
            return .response(
                answer(
                    head, "-",
                    APIError(
                        .notFound,
                        "there is nothing at \(APIError.printable(head.path)): docs/SERVING.md "
                            + "lists what is served", code: "unknown_path"
                    ).response))
        }
        if case .work(let work) = route, head.method == "POST" {
            guard isStopping else { return .work(work) }
            return .response(answer(head, work.rawValue, APIError.stopping.response))
        }
        return .response(answer(head, to: route))
    }

    private func answer(_ request: HTTPRequest, to route: ServeRoute) -> HTTPResponse {
        switch route {
        case .work: return answer(request, "-", wrongMethod("POST"))
        case _ where !["GET", "HEAD"].contains(request.method):
            return answer(request, "-", wrongMethod("GET"))
        case .page:
            return answer(request, "/", ChatPage.page.response)
        case .health:
            return answer(
                request, "/health",
                isStopping
                    ? APIError.stopping.response
                    : HTTPResponse(json: .fields([("status", .text("ok"))])))
        case .models: return answer(request, "/v1/models", models)
        case .model(let name): return answer(request, "/v1/models", model(name))
        case .metrics: return answer(request, "/metrics", metricsText)
        case .tokenizerInfo:
            return answer(
                request, "/tokenizer_info", HTTPResponse(json: parts.preparation.tokenizerInfo))
        }
    }

    func answer(
        _ request: HTTPRequest?, _ endpoint: String, _ response: HTTPResponse
    ) -> HTTPResponse {
        metrics.count(endpoint, response.status.rawValue)
        var response = response
        if let request { response.headers += parts.access.headers(for: request) }
        response.headers.append(("X-Request-Id", ServeAccess.name(of: request, else: made())))
        return response
    }

    private func wrongMethod(_ allowed: String) -> HTTPResponse {
        var response = APIError(
            .methodNotAllowed, "this path takes \(allowed)", code: "method_not_supported"
        ).response
        response.headers.append(("Allow", allowed))
        return response
    }

    // MARK: What is answered at once

    private var models: HTTPResponse {
        HTTPResponse(
            json: .fields([
                ("object", .text("list")),
                ("data", .list(parts.preparation.models.list.map(entry))),
            ]))
    }

    private func model(_ name: String) -> HTTPResponse {
        let all = parts.preparation.models.list
        guard let found = all.first(where: { $0.id == name }) else {
            return APIError.unknownModel(name, known: all.map(\.id)).response
        }
        return HTTPResponse(json: entry(found))
    }

    private func entry(_ model: ServedModel) -> JSONValue {
        .fields([
            ("id", .text(model.id)), ("object", .text("model")),
            ("created", .integer(model.created)), ("owned_by", .text("skein")),
            ("root", .text(model.root)), ("parent", model.parent.map { .text($0) } ?? .null),
            ("step", model.step.map { .integer($0) } ?? .null),
            ("max_model_len", .integer(parts.preparation.context)),
            ("sampling", sampling(model)),
        ])
    }

    /// How this model's tokens are picked where a request does not say.
    private func sampling(_ model: ServedModel) -> JSONValue {
        // As it was written, not as the nearest Float.
        func number(_ value: Float) -> JSONValue {
            .decimal(Double("\(value)") ?? Double(value))
        }
        let usual = parts.preparation.sampling.sampler(hasAdapter: model.isAdapter)
        return .fields([
            ("temperature", number(usual.temperature)), ("top_k", .integer(usual.topK)),
            ("top_p", number(usual.topP)), ("min_p", number(usual.minP)),
            ("repetition_penalty", number(usual.penalties.repetition)),
        ])
    }

    private var metricsText: HTTPResponse {
        var prefixes = PrefixFigures()
        if let cache = parts.host.prefixes {
            let usage = cache.usage
            prefixes = PrefixFigures(
                bytes: usage.bytes, limit: cache.byteLimit, evicted: usage.evicted)
        }
        return HTTPResponse(
            contentType: MetricsText.contentType,
            body: Array(
                metrics.text(
                    parts.engine.figures, prefixes, adapters: parts.preparation.models.memory,
                    open: servedRequests.count, cacheLimit: parts.host.plan.batch.cacheBytes
                ).utf8))
    }
}
