/// Guesses the next tokens of an answer: what followed the last time that its last three tokens stood
/// in the prompt or the answer (prompt lookup decoding; Saxena 2023, transformers'
/// `prompt_lookup_num_tokens`). Pays where an answer repeats its prompt, as summaries and edits do.
///
/// A guess is read together with the token before it, so it costs its rows' arithmetic and not another
/// reading of the weights; what is said does not depend on it, since each token is picked from the
/// logits that it would be picked from anyway. How long a guess is follows how often the last ones
/// were right.
struct PromptLookup: Sendable {
    private struct Key: Hashable {
        var a: Int32
        var b: Int32
        var c: Int32
    }

    /// The longest guess: eight rows with the token before it.
    static let longest = 7
    /// Where the guesses are mostly wrong, one is tried every so many tokens.
    private static let probeEvery = 32

    private var tokens: [Int32]
    /// The place behind the last time that three tokens stood there.
    private var places: [Key: Int] = [:]
    /// The share of the guessed tokens of late that was right.
    private var share = 0.6
    private var sinceProbe = 0

    init(prompt: [Int32]) {
        tokens = []
        tokens.reserveCapacity(prompt.count + 256)
        for token in prompt { append(token) }
    }

    /// Takes the next token of the row.
    mutating func append(_ token: Int32) {
        tokens.append(token)
        // The place before the last token, so that a row's end does not find itself.
        let end = tokens.count - 1
        guard end >= 3 else { return }
        places[Key(a: tokens[end - 3], b: tokens[end - 2], c: tokens[end - 1])] = end
    }

    /// What may come next; empty without an idea, or when it would not pay.
    mutating func guess(atMost limit: Int) -> [Int32] {
        let count = tokens.count
        guard count >= 3, limit > 0 else { return [] }
        guard
            let place = places[
                Key(a: tokens[count - 3], b: tokens[count - 2], c: tokens[count - 1])]
        else { return [] }
        let length: Int
        switch share {
        case 0.75...: length = Self.longest
        case 0.5...: length = 3
        case 0.35...: length = 2
        default:
            sinceProbe += 1
            guard sinceProbe >= Self.probeEvery else { return [] }
            sinceProbe = 0
            length = 2
        }
        return Array(tokens[place...].prefix(min(length, limit)))
    }

    /// Learns how many tokens of a guess were right.
    mutating func note(right: Int, of guessed: Int) {
        guard guessed > 0 else { return }
        share += 0.25 * (Double(right) / Double(guessed) - share)
    }
}
