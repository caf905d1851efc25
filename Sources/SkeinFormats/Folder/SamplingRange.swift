import SkeinBasics

/// What the numbers may be that say how tokens are picked. Flags, requests, the files of models,
/// `TextGenerator` and sessions ask here, and each says in its own words what it accepts.
///
/// Two of them take more: requests and files may have -1 for all tokens, vLLM's word, in place of a
/// `topK` of 0, and requests a `topP` of 0, which is the likeliest token.
package enum SamplingRange {
    package static let temperature = NumberRange(0, to: 100)
    /// 0: all tokens.
    package static let topK = 0...1_048_576
    package static let topP = NumberRange(above: 0, to: 1)
    package static let minP = NumberRange(0, to: 1)
    package static let repetitionPenalty = NumberRange(above: 0, to: 100)
    /// The penalties for presence and for frequency.
    package static let countPenalty = NumberRange(-100, to: 100)
}
