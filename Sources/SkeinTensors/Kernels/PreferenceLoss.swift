/// The loss of a pair of answers to one prompt, of which one was chosen over the other, as a function
/// of their log-probabilities.
///
/// With s(z) = log(1 + exp(-z)), and log p a sum over the tokens of an answer y, n of them:
///
/// - DPO (Rafailov et al. 2023): s(beta ((log p_c - ref_c) - (log p_r - ref_r))), where ref is the log-probability
///   under the reference model.
/// - SimPO (Meng et al. 2024): s(beta (log p_c / n_c - log p_r / n_r) - gamma).
/// - ORPO (Hong et al. 2024): -log p_c / N + beta s(o_c - o_r), with the log-odds
///   o = a - log(1 - exp(a)) of a = log p / n. N is the mean number of chosen tokens of a pair, so that over
///   all pairs of a step the first part is the mean over chosen tokens (TRL's ORPOTrainer adds those of the prompt).
///
/// Numbers are Doubles made by `ElementaryFunctions`, so they are the same on every machine.
/// Checked against trl in PreferenceLossTests.
package struct PreferenceLoss: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case dpo
        case orpo
        case simpo
    }

    package let kind: Kind
    package let beta: Double
    /// The margin of SimPO.
    package let gamma: Double

    package init(kind: Kind, beta: Double, gamma: Double = 0) {
        self.kind = kind
        self.beta = beta
        self.gamma = gamma
    }

    /// One of the two answers.
    package struct Answer: Sendable, Equatable {
        /// Sum over its tokens, at most 0.
        package var logProbability: Double
        /// At least 1.
        package var tokens: Int
        /// `logProbability` under the reference model; DPO alone reads it.
        package var reference: Double

        package init(logProbability: Double, tokens: Int, reference: Double = 0) {
            self.logProbability = logProbability
            self.tokens = tokens
            self.reference = reference
        }

        /// An answer that is certain would have infinite odds; 1e-9 from that, a Float knows no other.
        fileprivate var mean: Double { min(logProbability / Double(tokens), -1e-9) }
    }

    /// What a pair gives.
    package struct Result: Sendable, Equatable {
        package var loss: Double
        /// The loss's derivative by -log p of the chosen answer, and of the rejected one: what the gradient
        /// of each token's cross-entropy is multiplied with.
        package var chosenWeight: Double
        package var rejectedWeight: Double
        /// Whether the chosen answer is ahead, before the margin of SimPO.
        package var isPreferred: Bool
    }

    /// - Parameters:
    ///   - chosen: the better answer.
    ///   - rejected: the other one.
    ///   - tokenShare: 1 / N of ORPO.
    /// - Returns: the loss in nats, and its derivatives.
    package func callAsFunction(
        chosen: Answer, rejected: Answer, tokenShare: Double
    ) -> Result {
        switch kind {
        case .dpo:
            let ahead =
                (chosen.logProbability - chosen.reference)
                - (rejected.logProbability - rejected.reference)
            let (loss, slope) = Self.softplus(beta * ahead)
            return Result(
                loss: loss, chosenWeight: beta * slope, rejectedWeight: -beta * slope,
                isPreferred: ahead > 0)
        case .simpo:
            let ahead =
                chosen.logProbability / Double(chosen.tokens)
                - rejected.logProbability / Double(rejected.tokens)
            let (loss, slope) = Self.softplus(beta * ahead - gamma)
            return Result(
                loss: loss, chosenWeight: beta * slope / Double(chosen.tokens),
                rejectedWeight: -beta * slope / Double(rejected.tokens), isPreferred: ahead > 0)
        case .orpo:
            let (oddsChosen, oddsRejected) = (Self.odds(chosen.mean), Self.odds(rejected.mean))
            let ahead = oddsChosen.logarithm - oddsRejected.logarithm
            let (loss, slope) = Self.softplus(ahead)
            return Result(
                loss: beta * loss - tokenShare * chosen.logProbability,
                chosenWeight: tokenShare + beta * slope * oddsChosen.slope / Double(chosen.tokens),
                rejectedWeight: -beta * slope * oddsRejected.slope / Double(rejected.tokens),
                isPreferred: ahead > 0)
        }
    }

    /// log(1 + exp(-z)), and 1 / (1 + exp(z)), by which it falls with z.
    private static func softplus(_ z: Double) -> (value: Double, slope: Double) {
        guard z.isFinite else { return (z == .infinity ? 0 : .infinity, z == .infinity ? 0 : 1) }
        // The exponential of a number that is not above 0.
        let small = ElementaryFunctions.exponential(-abs(z))
        let value = logarithm(onePlus: small)
        return z >= 0
            ? (value, small / (1 + small)) : (value - z, 1 / (1 + small))
    }

    /// a - log(1 - exp(a)) for a below 0, and its derivative 1 / (1 - exp(a)).
    private static func odds(_ a: Double) -> (logarithm: Double, slope: Double) {
        guard a.isFinite else { return (-.infinity, 1) }
        // Near 0 the difference from 1 by its series, whose next term is below 1e-16 of it.
        let rest =
            a > -1e-5 ? -a * (1 + a / 2 * (1 + a / 3)) : 1 - ElementaryFunctions.exponential(a)
        return (a - ElementaryFunctions.logarithm(rest), 1 / rest)
    }

    /// log(1 + x) for x in 0 ... 1.
    private static func logarithm(onePlus x: Double) -> Double {
        x < 1e-5 ? x * (1 - x * (1 / 2.0 - x / 3)) : ElementaryFunctions.logarithm(1 + x)
    }
}
