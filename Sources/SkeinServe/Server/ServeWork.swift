import SkeinAnswers
import SkeinHTTP

/// What is done for a request on another thread, by its path.
enum ServeWork: String, Sendable {
    case chat = "/v1/chat/completions"
    case completion = "/v1/completions"
    case tokenize = "/tokenize"
    case detokenize = "/detokenize"
    case loadAdapter = "/v1/load_lora_adapter"
    case unloadAdapter = "/v1/unload_lora_adapter"
}

/// What comes of it.
enum PreparedAnswer: Sendable {
    case plan(AnswerPlan)
    /// JSON, written already: that takes a while where there are many tokens.
    case json(HTTPResponse)
    case text(HTTPAnswerText)
    case error(APIError)
}

extension Preparation {
    /// Does the work for a request. Takes long; any thread may call.
    func answer(
        to work: ServeWork, _ body: [UInt8], _ id: RequestID, _ names: RequestNames,
        _ isWanted: WantedFlag
    ) -> PreparedAnswer {
        do throws(APIError) {
            switch work {
            case .chat: return .plan(try chat(body, id: id, names) { isWanted.isSet })
            case .completion:
                return .plan(try completion(body, id: id, names) { isWanted.isSet })
            case .tokenize: return .json(HTTPResponse(json: try tokenize(body)))
            case .detokenize: return .json(HTTPResponse(json: try detokenize(body)))
            case .loadAdapter: return .text(try loadAdapter(body))
            case .unloadAdapter: return .text(try unloadAdapter(body))
            }
        } catch {
            return .error(error)
        }
    }
}
