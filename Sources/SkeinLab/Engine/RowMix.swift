import SkeinBasics
import SkeinRows
import SkeinTraining

/// The rows of a thread's micro-batch in a benchmark of the training step.
enum RowMix: String, Sendable, CaseIterable {
    /// One row of all tokens, each with loss.
    case dense
    /// Rows like those of the demo's data: about 182 tokens, the second half with loss.
    case rows

    /// Tokens of a row of the demo's data, on average.
    static let rowTokens = 182

    /// Tokens of each row of a micro-batch of about `tokens` tokens.
    ///
    /// Lengths of `rows` are spread evenly over the mean plus or minus a third, so that no product
    /// has a lucky size.
    func lengths(tokens: Int) -> [Int] {
        switch self {
        case .dense: return [max(2, tokens)]
        case .rows:
            let count = max(1, (tokens + Self.rowTokens / 2) / Self.rowTokens)
            let mean = tokens < Self.rowTokens ? max(2, tokens) : Self.rowTokens
            guard count > 1 else { return [mean] }
            return (0..<count).map { mean * 2 / 3 + mean * 2 * $0 / (3 * (count - 1)) }
        }
    }

    /// The rows with random tokens.
    ///
    /// - Parameters:
    ///   - tokens: about how many the micro-batch has.
    ///   - vocabulary: ids are below it.
    ///   - number: of the first row within its step; the others follow.
    /// - Returns: The rows of one micro-batch.
    func rows(tokens: Int, vocabulary: Int, number: Int) -> [TokenizedRow] {
        let random = AddressedRandom(seed: 0, purpose: .benchmark)
        return lengths(tokens: tokens).enumerated().map { index, length in
            let row = number + index
            let ids = (0..<length).map { place in
                let word = random.block(UInt32(place), UInt32(row), 7).x
                return Int32(UInt64(word) * UInt64(vocabulary) >> 32)
            }
            let first = self == .dense ? 1 : length / 2
            return TokenizedRow(number: row, ids: ids, targets: [first..<length])
        }
    }
}
