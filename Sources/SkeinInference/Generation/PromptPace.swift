/// How many tokens of prompts a step may read so that those who decode do not wait longer than they
/// should: a guess from what steps took so far. It decides when something is computed, never what.
package struct PromptPace: Sendable, Equatable {
    /// Seconds between two tokens of an answer, at most, as far as it can be told beforehand. Where
    /// answers alone take most of it or more, prompts get half as long as the answers, so that
    /// they do not starve, and never more than this.
    package var limit: Double
    /// Tokens per second of the last blocks, short ones counted as `charge` does; nil before the
    /// first.
    private var rate: Double?
    /// Seconds of the last step's answers.
    private var answers = 0.0

    /// Before anything was measured.
    private static let first = 32
    /// A block of fewer tokens takes about as long: it mostly converts weights.
    private static let least = 8
    private static let most = 1_000_000

    package init(limit: Double = 0.05) {
        self.limit = limit
    }

    /// Tokens that a block counts for: a short one reads all weights, too.
    package static func charge(_ tokens: Int) -> Int { max(least, tokens) }

    /// A block was read in so many seconds.
    package mutating func noteBlock(_ tokens: Int, seconds: Double) {
        let new = Double(Self.charge(tokens)) / seconds
        guard tokens > 0, seconds > 0, new.isFinite else { return }
        // Later parts of a prompt are slower: half of the old pace is enough memory.
        rate = rate.map { $0 / 2 + new / 2 } ?? new
    }

    /// A step's answers took so many seconds.
    package mutating func noteAnswers(seconds: Double) {
        if seconds.isFinite { answers = seconds }
    }

    /// Tokens of the next block.
    package var tokens: Int {
        guard let rate else { return Self.first }
        // A fifth is left for what a neighbour on the machine takes.
        let guess = rate * (min(limit, max(limit - answers, answers / 2)) * 0.8)
        // Not a number if `limit` is none: then as if there were no time.
        guard guess > Double(Self.least) else { return Self.least }
        return guess < Double(Self.most) ? Int(guess) : Self.most
    }
}
