import SkeinBasics
import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinNetwork
import Testing

@testable import SkeinServe

/// Errors as OpenAI's clients read them.
@Suite struct APIErrorTests {
    @Test("the type follows from the status, as OpenAI has it")
    func types() {
        for (status, type) in [
            (.badRequest, "invalid_request_error"), (.unauthorized, "invalid_request_error"),
            (.forbidden, "invalid_request_error"), (.notFound, "invalid_request_error"),
            (.methodNotAllowed, "invalid_request_error"),
            (.requestTimeout, "invalid_request_error"),
            (.contentTooLarge, "invalid_request_error"),
            (.misdirected, "invalid_request_error"), (.tooManyRequests, "requests"),
            (.internalError, "server_error"), (.serviceUnavailable, "server_error"),
        ] as [(HTTPStatus, String)] {
            #expect(APIError(status, "x").type == type, "\(status)")
        }
    }

    @Test("all four fields are there, also those that say nothing")
    func shape() {
        #expect(
            APIError.unknownModel("x", known: ["tiny"]).json.written
                == #"{"error":{"message":"there is no model \"x\" here: GET /v1/models lists "#
                + #"those that are served (tiny)","type":"invalid_request_error","#
                + #""param":"model","code":"model_not_found"}}"#)
        #expect(
            APIError(.internalError, "y").json.written
                == #"{"error":{"message":"y","type":"server_error","param":null,"code":null}}"#)
    }

    @Test("whose error it is: of input the client's, any other the server's")
    func sides() {
        #expect(
            APIError(ServeError.badName(name: "a@b", from: .request)).status == .badRequest)
        #expect(APIError(ServeError.noThread).status == .internalError)
        struct Odd: Error {}
        #expect(APIError(Odd()).type == "server_error")
    }

    @Test("why the engine made no answer, in words for a client")
    func answers() {
        let long = APIError(answer: AnswerError.refused(.tooLong(tokens: 9, limit: 8)))
        #expect(long == .contextExceeded(tokens: 9, limit: 8, param: "prompt"))
        let rank = APIError(answer: AnswerError.refused(.rankTooLarge(rank: 9, limit: 8)))
        #expect(rank.status == .badRequest && rank.param == "model")
        #expect(
            APIError(answer: AnswerError.notFed(.busy))
                == APIError(.internalError, "an error of skein's own: not fed: busy"))
        #expect(APIError(answer: GenerationError.notFinite).status == .badRequest)
    }

    @Test("a grammar that an answer finds too large is told with its place in the request")
    func grammars() {
        let schema = AnswerForm.form(
            .schema([], .lenient), place: "response_format.json_schema.schema")
        let error = APIError(answer: GrammarError.tooComplex, schema)
        #expect(error == schema.problem(.tooComplex) && error.code == "invalid_schema")
        #expect(error.param == "response_format.json_schema.schema")
        let words = AnswerForm.form(.expression("a"), place: "guided_regex")
        let other = APIError(answer: GrammarError.tooComplex, words)
        #expect(other.param == "guided_regex" && other.message.contains("the expression"))
        #expect(APIError(answer: GrammarError.tooComplex, .text).param == "tools")
    }

    @Test("adapters that fill their room may leave it: the client may try again")
    func rooms() {
        let full = APIError(AdapterMemoryError.full(bytes: 5, held: 6, limit: 10), param: "model")
        #expect(full.status == .tooManyRequests && full.retryAfter == 5 && full.param == nil)
        let large = APIError(AdapterMemoryError.tooLarge(bytes: 11, limit: 10), param: "model")
        #expect(large.status == .badRequest && large.retryAfter == nil && large.param == "model")
        #expect(large.message.hasPrefix("the adapter takes"), "\(large.message)")
    }
}
