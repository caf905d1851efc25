import Foundation
import SkeinBasics
import SkeinFormats

/// A value of `GenerationOptions` that is out of its range. Initializers take any value; a request,
/// and coding the options, throw this.
public enum OptionsError: Error, Equatable, Sendable {
    /// A temperature that is not from 0 to 100.
    case temperature(Double)
    /// `random(top:)` with no token to draw from.
    case top(Int)
    /// `random(probabilityThreshold:)` outside of 0 (excluded) to 1.
    case probabilityThreshold(Double)
    /// An answer of no token.
    case maximumResponseTokens(Int)
}

extension OptionsError: Explained {
    package var explanation: Explanation {
        let (name, value, remedy) = words
        return Explanation(
            what: "\(name) is \(value)", place: "GenerationOptions", remedy: remedy,
            status: .usage)
    }

    private var words: (name: String, value: String, remedy: String) {
        switch self {
        case .temperature(let value):
            (
                "temperature", "\(value)",
                "give a number from \(SamplingRange.temperature.text); 0 is greedy, nil the model's own"
            )
        case .top(let value): ("the number of random(top:)", "\(value)", "give 1 or more")
        case .probabilityThreshold(let value):
            ("probabilityThreshold", "\(value)", "give a number \(SamplingRange.topP.text)")
        case .maximumResponseTokens(let value):
            ("maximumResponseTokens", "\(value)", "give 1 or more, or nil for no limit of its own")
        }
    }
}

extension OptionsError: LocalizedError {
    /// What happened, and where.
    public var errorDescription: String? { explanation.sentence }
    /// What to do about it.
    public var recoverySuggestion: String? { explanation.remedy }
}
