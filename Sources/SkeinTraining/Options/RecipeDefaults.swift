import SkeinBasics
import SkeinTensors

/// What follows from model and rows where nothing is given, as docs/RECIPES.md measures it
/// (`Scripts/bench-recipes`).
///
/// All of it is exact arithmetic, rounded to few digits: every machine finds the same numbers.
package enum RecipeDefaults {
    /// The peak rate of single answers on a model that is 2,000 wide, and how it falls with the width. The
    /// exponent is that of "LoRA Without Regret" (Schulman et al. 2025) for models of Llama's kind; the
    /// rate is 1.5 times theirs, which is constant, while the mean of a linear schedule is half its peak.
    static let rateAtWidth2000 = 7.5e-4
    static let widthExponent = 0.78
    /// alpha / rank of the recipe that the rate belongs to.
    static let scale = 2.0

    /// The learning rate: to two digits, so that it can be said and typed.
    ///
    /// - Parameters:
    ///   - width: of the model.
    ///   - loss: of pairs; nil for single answers.
    /// - Returns: the peak of the schedule.
    package static func learningRate(width: Int, loss: PreferenceLoss.Kind?) -> Double {
        let wide = rateAtWidth2000 * ElementaryFunctions.power(2000 / Double(width), widthExponent)
        return twoDigits(wide / divisor(loss))
    }

    /// Pairs need smaller steps: with larger ones the model still tells the answers apart, and no longer
    /// writes the chosen one. ORPO learns that one by itself, too, and SimPO its probability, not how much
    /// it has grown: they bear larger ones.
    private static func divisor(_ loss: PreferenceLoss.Kind?) -> Double {
        switch loss {
        case nil: 1
        case .orpo: 5
        case .simpo: 10
        case .dpo: 40
        }
    }

    /// Steps that learn a few rows, and the fewest and the most passes over them. Pairs are passed over less
    /// often: a model that prefers one answer by too much no longer writes it.
    static let usefulSteps = 200
    static let epochs = 2...10
    static let epochsOfPairs = 1...3

    /// Passes over the rows: as many as make `usefulSteps`, but few over many rows, and not so many over
    /// few rows that they are learned by heart.
    ///
    /// - Parameters:
    ///   - rows: training rows, at least 1.
    ///   - batchSize: rows of a step.
    ///   - loss: of pairs; nil for single answers.
    /// - Returns: at least 1.
    package static func epochs(
        rows: Int, batchSize: Int, loss: PreferenceLoss.Kind? = nil
    ) -> Int {
        let steps = max(1, (rows + batchSize - 1) / batchSize)
        let bounds = loss == nil ? epochs : epochsOfPairs
        return min(max((usefulSteps + steps - 1) / steps, bounds.lowerBound), bounds.upperBound)
    }

    /// One step in twenty. The first step of a warm-up has the rate 0, so a run of few steps has none.
    package static func warmupSteps(stepCount: Int) -> Int { stepCount / 20 }

    /// The nearest number with two digits; the same text reads back as it.
    static func twoDigits(_ number: Double) -> Double {
        guard number.isNormal, number > 0 else { return number }
        var (scaled, exponent) = (number, 0)
        while scaled < 10 { (scaled, exponent) = (scaled * 10, exponent - 1) }
        while scaled >= 100 { (scaled, exponent) = (scaled / 10, exponent + 1) }
        return Double("\(Int(scaled.rounded()))e\(exponent)") ?? number
    }
}
