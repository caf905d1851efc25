import Foundation
import SkeinBasics
import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinNetwork

/// What a client hears in place of an answer, in the shape of OpenAI's errors.
struct APIError: Error, Equatable, Sendable {
    var status: HTTPStatus
    /// What happened and how to mend it.
    var message: String
    /// The field of the request that it is about, such as `messages[0].content`.
    var param: String?
    /// A word for programs.
    var code: String?
    /// Seconds after which another try may succeed.
    var retryAfter: Int?

    init(
        _ status: HTTPStatus, _ message: String, param: String? = nil, code: String? = nil,
        retryAfter: Int? = nil
    ) {
        self.status = status
        self.message = message
        self.param = param
        self.code = code
        self.retryAfter = retryAfter
    }

    /// `type` as OpenAI has it: one for all that the client can mend, whatever the status.
    var type: String {
        switch status {
        case .tooManyRequests: "requests"
        case _ where status.rawValue >= 500: "server_error"
        default: "invalid_request_error"
        }
    }

    /// A field that is not what it should be.
    static func invalid(
        _ param: String?, _ what: String, code: String? = nil
    ) -> APIError {
        APIError(.badRequest, what, param: param, code: code)
    }

    static func unknownModel(_ name: String, known: [String]) -> APIError {
        let some = known.prefix(8).joined(separator: ", ") + (known.count > 8 ? ", ..." : "")
        return APIError(
            .notFound,
            "there is no model \(printable(name)) here: GET /v1/models lists those that are "
                + "served (\(some))",
            param: "model", code: "model_not_found")
    }

    static func contextExceeded(
        tokens: Int, limit: Int, param: String, isAtLeast: Bool = false
    ) -> APIError {
        invalid(
            param,
            "the prompt has \(isAtLeast ? "at least " : "")\(tokens) tokens, and prompt and answer together may have \(limit): "
                + "send a shorter prompt, or start skein serve with a larger --context",
            code: "context_length_exceeded")
    }

    static func overloaded(_ what: String, retryAfter: Int) -> APIError {
        APIError(
            .tooManyRequests, "\(what): try again in \(retryAfter) s",
            code: "rate_limit_exceeded", retryAfter: retryAfter)
    }

    static let loading = APIError(
        .serviceUnavailable, "the model is being read: try again in 2 s, or ask /health",
        code: "loading", retryAfter: 2)

    static let stopping = APIError(
        .serviceUnavailable, "the server is shutting down: try another one, or later",
        code: "shutting_down", retryAfter: 5)

    /// An error that explains itself; one of input is the client's, any other the server's. Too little
    /// room for an adapter or a grammar may pass, when requests that hold others end.
    init(_ error: any Error, param: String? = nil) {
        if case .full? = error as? GrammarError {
            self = .overloaded(
                "the schemas of other requests take all room for them (--grammar-memory)",
                retryAfter: 5)
            return
        }
        guard let explained = error as? any Explained else {
            self.init(.internalError, "an error of skein's own: \(error)", param: param)
            return
        }
        let explanation = explained.explanation
        if case .full? = error as? AdapterMemoryError {
            self = .overloaded("\(explanation.what): \(explanation.remedy)", retryAfter: 5)
            return
        }
        let parts = [explanation.what, explanation.place, explanation.remedy]
        let isInput = explanation.status == .badData || explanation.status == .usage
        self.init(
            isInput ? .badRequest : .internalError,
            parts.filter { !$0.isEmpty }.joined(separator: ": "), param: param)
    }

    /// The body, an object with `error`.
    var json: JSONValue {
        .fields([
            (
                "error",
                .fields([
                    ("message", .text(message)), ("type", .text(type)),
                    ("param", param.map { .text($0) } ?? .null),
                    ("code", code.map { .text($0) } ?? .null),
                ])
            )
        ])
    }

    var response: HTTPResponse {
        var response = HTTPResponse(json: json, status)
        if let retryAfter { response.headers.append(("Retry-After", String(retryAfter))) }
        if status == .unauthorized {
            response.headers.append(("WWW-Authenticate", "Bearer realm=\"skein\""))
        }
        return response
    }

    /// A text of a client's as it may stand in an error: short, and without control characters.
    static func printable(_ text: String) -> String {
        let short = text.prefix(80)
        let safe = String(
            String.UnicodeScalarView(
                short.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
        return "\"\(safe)\(short.endIndex < text.endIndex ? "..." : "")\""
    }
}

extension HTTPResponse {
    init(json: JSONValue, _ status: HTTPStatus = .ok) {
        self.init(
            status, contentType: "application/json",
            body: json.utf8 + [UInt8(ascii: "\n")])
    }
}

extension APIError {
    /// A schema or an expression that cannot be enforced; the place in it is a JSON pointer.
    init(form explanation: Explanation, param: String) {
        let place = explanation.place.isEmpty ? "" : " (at \(explanation.place))"
        self = .invalid(
            param, "\(explanation.what)\(place): \(explanation.remedy)", code: "invalid_schema")
    }
}

extension APIError {
    /// Why an answer has no end.
    ///
    /// - Parameters:
    ///   - error: what the engine says.
    ///   - form: what the answer must be. Where that is any text, a grammar is that of the tools.
    init(answer error: any Error, _ form: AnswerForm? = nil) {
        if let form, let error = error as? GrammarError {
            self =
                form == .text
                ? APIError(form: error.explanation, param: "tools") : form.problem(error)
        } else if case .refused(let refusal)? = error as? AnswerError {
            self.init(refusal: refusal)
        } else {
            self.init(error)
        }
    }

    /// Why an answer never fits.
    private init(refusal: BatchDecoder.Admission) {
        switch refusal {
        case .tooLong(let tokens, let limit):
            self = .contextExceeded(tokens: tokens, limit: limit, param: "prompt")
        case .tooLarge(let needed, let limit):
            self = .invalid(
                "max_tokens",
                "the answer's keys and values may take \(Figures.bytes(needed)), and there are "
                    + "\(Figures.bytes(limit)): ask for fewer tokens, or start skein serve with a "
                    + "larger --cache-memory", code: "context_length_exceeded")
        case .unknownToken(let token, let limit):
            self = .invalid(
                "prompt", "\(token) is not a token: ids are from 0 to \(limit - 1)")
        case .emptyPrompt: self = .invalid("prompt", "a prompt has at least one token")
        case .rankTooLarge(let rank, let limit):
            self = .invalid(
                "model", "the adapter's rank is \(rank), and there is room for \(limit)")
        case .admitted, .full:
            self = APIError(.internalError, "an error of skein's own: no refusal")
        }
    }
}

extension APIError {
    /// The error of a file in a directory, without what lies above it; a file that cannot be read is the
    /// client's choice.
    func hiding(_ directory: String) -> APIError {
        var error = self
        error.message = message.replacingOccurrences(
            of: directory == "/" ? "/" : directory + "/", with: "")
        if status == .internalError { error.status = .badRequest }
        return error
    }
}
