import SkeinInference
import SkeinNetwork

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
    /// A grammar must be made first, which may take long and is for another thread.
    /// `streams`: whether its client waits for events.
    case compile(streams: Bool, @Sendable () -> PreparedAnswer)
}

extension Preparation {
    /// Does the work for a request. Takes long; any thread may call.
    func answer(
        to work: ServeWork, _ body: [UInt8], _ id: RequestID, _ names: RequestNames,
        _ isWanted: WantedFlag
    ) -> PreparedAnswer {
        do throws(APIError) {
            switch work {
            case .chat:
                let draft = try draft(chat: body, id: id, names)
                return stage(
                    needsGrammar(draft.request), streams: draft.request.sampling.streams
                ) { () throws(APIError) in
                    try plan(draft) { isWanted.isSet }
                }
            case .completion:
                let draft = try draft(completion: body, id: id, names)
                return stage(
                    needsGrammar(draft.request.form), streams: draft.request.sampling.streams
                ) { () throws(APIError) in
                    try plan(draft) { isWanted.isSet }
                }
            case .tokenize: return .json(HTTPResponse(json: try tokenize(body)))
            case .detokenize: return .json(HTTPResponse(json: try detokenize(body)))
            case .loadAdapter: return .text(try loadAdapter(body))
            case .unloadAdapter: return .text(try unloadAdapter(body))
            }
        } catch {
            return .error(error)
        }
    }

    /// A plan, now or on the thread for grammars.
    private func stage(
        _ isLater: Bool, streams: Bool,
        _ plan: @escaping @Sendable () throws(APIError) -> AnswerPlan
    ) -> PreparedAnswer {
        let work: @Sendable () -> PreparedAnswer = {
            do throws(APIError) {
                return .plan(try plan())
            } catch {
                return .error(error)
            }
        }
        return isLater ? .compile(streams: streams, work) : work()
    }
}
