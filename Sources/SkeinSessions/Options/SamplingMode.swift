import SkeinBasics
import SkeinFormats

extension GenerationOptions {
    /// How each token of an answer is chosen: always the most probable one, or drawn.
    ///
    /// With `greedy`, or with a seed, the same request has the same answer. A number out of its
    /// range is an error of the request, not of the call that makes the mode.
    public struct SamplingMode: Sendable, Equatable {
        /// From which tokens one is drawn.
        package enum Kind: Sendable, Equatable {
            /// The most probable token, always.
            case greedy
            /// All tokens.
            case random
            /// The so many most probable ones.
            case top(Int)
            /// The most probable ones that together have this probability.
            case threshold(Double)
        }

        package let kind: Kind
        /// The same seed and the same request give the same text; nil: another text each time.
        package let seed: UInt64?
        /// Used where the options have none.
        package let temperature: Double?

        package init(kind: Kind, seed: UInt64? = nil, temperature: Double? = nil) {
            self.kind = kind
            self.seed = seed
            self.temperature = temperature
        }

        /// The most probable token each time: the same request has the same answer, as long as the
        /// base model and the adapter stay the same.
        public static var greedy: SamplingMode { SamplingMode(kind: .greedy) }

        /// Draws among the `k` most probable tokens, by their probabilities.
        ///
        /// - Parameters:
        ///   - k: how many tokens, 1 or more.
        ///   - seed: with the same one, the same request has the same answer.
        /// - Returns: the mode; whether `k` is in range is checked when it is used.
        public static func random(top k: Int, seed: UInt64? = nil) -> SamplingMode {
            SamplingMode(kind: .top(k), seed: seed)
        }

        /// Draws among the fewest most probable tokens whose probabilities add up to
        /// `probabilityThreshold` (nucleus sampling: Holtzman et al., ICLR 2020).
        ///
        /// - Parameters:
        ///   - probabilityThreshold: above 0, and at most 1.
        ///   - seed: with the same one, the same request has the same answer.
        /// - Returns: the mode; whether the threshold is in range is checked when it is used.
        public static func random(
            probabilityThreshold: Double, seed: UInt64? = nil
        ) -> SamplingMode {
            SamplingMode(kind: .threshold(probabilityThreshold), seed: seed)
        }

        /// Draws among all tokens. The temperature counts where the options have none of their own.
        ///
        /// - Parameter temperature: 0 to 100.
        /// - Returns: the mode.
        @available(*, deprecated, message: "give the temperature to GenerationOptions")
        public static func random(temperature: Double) -> SamplingMode {
            SamplingMode(kind: .random, temperature: temperature)
        }

        /// - Throws: `OptionsError`.
        package func check() throws(OptionsError) {
            if let temperature, !SamplingRange.temperature.contains(temperature) {
                throw .temperature(temperature)
            }
            switch kind {
            case .top(let count) where count <= 0: throw .top(count)
            case .threshold(let share) where !SamplingRange.topP.contains(share):
                throw .probabilityThreshold(share)
            default: return
            }
        }
    }
}
