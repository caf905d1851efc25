/// Continues a prompt token by token.
package struct Generator {
    package let session: DecoderSession
    package let sampler: Sampler
    /// Generation ends before it would give out one of these.
    package let stopTokens: Set<Int32>

    package init(session: DecoderSession, sampler: Sampler, stopTokens: Set<Int32>) {
        self.session = session
        self.sampler = sampler
        self.stopTokens = stopTokens
    }

    /// Why a continuation ended.
    package enum End: String, Sendable {
        case stopToken = "stop"
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
        for position in 0..<maximumTokens {
            let token = try session.withLogits(
                after: next, as: position == 0 ? .prompt : .answer, check: check
            ) {
                let token = sampler.pick($0, position: position)
                guard $0[Int(token)].isFinite else { throw GenerationError.notFinite }
                return token
            }
            if stopTokens.contains(token) { return .stopToken }
            if try !each(token) { return .interrupted }
            next = [token]
        }
        return .maximumTokens
    }
}
