/// Makes tokens less likely that have been used.
package struct TokenPenalties: Sendable, Equatable {
    /// Logits of used tokens, the prompt's included, are divided by it if they are positive, else
    /// multiplied; 1 = off (CTRL, Keskar et al. 2019, section 4.1, as transformers and llama.cpp
    /// have it).
    package var repetition: Float
    /// Taken off the logits of tokens that the answer has used; 0 = off.
    package var presence: Float
    /// Taken off once for each use in the answer; 0 = off.
    package var frequency: Float

    package init(repetition: Float = 1, presence: Float = 0, frequency: Float = 0) {
        self.repetition = repetition
        self.presence = presence
        self.frequency = frequency
    }

    package var isOff: Bool { self == TokenPenalties() }
}

/// How often the tokens of one generation were used.
package struct TokenUses: Sendable {
    private var prompt: Set<Int32>
    private var answer: [Int32: Int] = [:]

    package init(prompt: some Sequence<Int32>) {
        self.prompt = Set(prompt)
    }

    package mutating func count(_ token: Int32) { answer[token, default: 0] += 1 }

    /// Lowers logits, [V], in place. Each is changed on its own, so the order does not matter. They
    /// stay finite, however extreme the penalties.
    package func lower(_ logits: inout [Float], by penalties: TokenPenalties) {
        if penalties.repetition != 1 {
            func repeated(_ token: Int32) {
                guard logits.indices.contains(Int(token)) else { return }
                let logit = logits[Int(token)]
                logits[Int(token)] = Self.finite(
                    logit > 0 ? logit / penalties.repetition : logit * penalties.repetition)
            }
            for token in prompt { repeated(token) }
            for token in answer.keys where !prompt.contains(token) { repeated(token) }
        }
        for (token, count) in answer where logits.indices.contains(Int(token)) {
            let penalty = penalties.presence + Float(count) * penalties.frequency
            logits[Int(token)] = Self.finite(logits[Int(token)] - penalty)
        }
    }

    /// The nearest finite number: sampling needs an order and sums.
    package static func finite(_ logit: Float) -> Float {
        min(max(logit, -.greatestFiniteMagnitude), .greatestFiniteMagnitude)
    }
}
