import SkeinBasics
import SkeinGrammar
import SkeinModels
import SkeinTensors

/// Continues a prompt token by token.
package struct Generator {
    package let session: DecoderSession
    package let sampler: Sampler
    /// Generation ends before it would give out one of these.
    package let stopTokens: Set<Int32>
    /// Ids below it are tokens; a model may have more logits. nil: all are.
    package let tokenCount: Int?

    package init(
        session: DecoderSession, sampler: Sampler, stopTokens: Set<Int32>, tokenCount: Int? = nil
    ) {
        self.session = session
        self.sampler = sampler
        self.stopTokens = stopTokens
        self.tokenCount = tokenCount
    }

    /// Makes a session of its own; `SamplingRule` says what counts where the wish is silent.
    ///
    /// - Parameters:
    ///   - model: the base.
    ///   - weights: of the base.
    ///   - wish: how tokens are picked.
    ///   - adapter: nil for the base model alone.
    ///   - capacity: tokens of prompt and answer together.
    ///   - stopTokens: end the answer.
    ///   - tokenCount: ids below it are tokens; nil: all are.
    ///   - team: the threads that compute; no others use them meanwhile.
    ///   - compute: precision of multiplying the prompt by the weights.
    ///   - answerRows: tokens of an answer that are read together.
    package init(
        _ model: ModelDirectory, _ weights: GenerationWeights,
        _ wish: SamplingWish = SamplingWish(), adapter: AdapterParameters?, capacity: Int,
        stopTokens: Set<Int32>, tokenCount: Int? = nil, team: ComputeTeam,
        compute: ComputeType = .fp32, answerRows: Int = 1
    ) {
        self.init(
            session: DecoderSession(
                weights: weights, adapter: adapter, capacity: capacity, team: team,
                compute: compute, answerRows: answerRows),
            sampler: SamplingRule(model: SamplingWish(model.sampling)).sampler(
                for: wish, hasAdapter: adapter != nil),
            stopTokens: stopTokens, tokenCount: tokenCount)
    }

    /// Bytes of the weights, and of one answer's keys and values.
    package static func byteCount(of model: ModelDirectory, tokens: Int) -> Int {
        model.weightBytes.saturatingPlus(
            DecoderSession.cacheBytes(tokens, of: model.configuration))
    }

    /// Why a continuation ended.
    package enum End: String, Sendable {
        /// The model ended it, or the value that it had to write is complete.
        case stopToken = "stop"
        /// There were no more tokens, or the value was closed so that it fits.
        case maximumTokens = "length"
        case interrupted
    }

    /// Calls `each` with every new token; false ends the generation. What `check` throws ends it, too,
    /// in the middle of a prompt or a token.
    ///
    /// Logits that are not finite are an error, not a text: `GenerationError.notFinite`.
    ///
    /// The prompt holds at least one token, and `session.room` is at least prompt + `maximumTokens`.
    @discardableResult
    package func run(
        prompt: [Int32], maximumTokens: Int, check: () throws -> Void,
        each: (Int32) throws -> Bool
    ) throws -> End {
        var next = prompt
        var uses = TokenUses(prompt: prompt)
        for position in 0..<maximumTokens {
            let token = try session.withLogits(
                after: next, as: position == 0 ? .prompt : .answer, check: check
            ) {
                try pick($0, uses) { sampler.pick($0, position: position) }
            }
            if stopTokens.contains(token) { return .stopToken }
            if try !each(token) { return .interrupted }
            uses.count(token)
            next = [token]
        }
        return .maximumTokens
    }

    /// Calls `choose` with the logits of all tokens, with penalties.
    func pick(
        _ all: UnsafeBufferPointer<Float>, _ uses: TokenUses,
        _ choose: (UnsafeBufferPointer<Float>) -> Int32
    ) throws -> Int32 {
        let logits = UnsafeBufferPointer(rebasing: all.prefix(tokenCount ?? all.count))
        guard Sampler.areFinite(logits) else { throw GenerationError.notFinite }
        let token: Int32
        if sampler.penalties.isOff {
            token = choose(logits)
        } else {
            var lowered = Array(logits)
            uses.lower(&lowered, by: sampler.penalties)
            token = lowered.withUnsafeBufferPointer(choose)
        }
        return token
    }
}
