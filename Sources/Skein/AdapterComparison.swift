import SkeinInference
import SkeinModels
import SkeinTensors
import SkeinText

/// Two adapters of one base model, compared by what they make of a text.
package enum AdapterComparison {
    /// Long enough for 64 tokens of any tokenizer, with words, numbers, code and other scripts.
    static let text = """
        The adapter was trained on 1,024 rows in 37 minutes. "Where is it now?" she asked. In \
        Zürich, Łódź and 東京 the same file gives the same answer: def add(a, b): return a + b \
        # 2 + 2 == 4. Nothing is lost, and nobody has to wait; the geese fly on, one after another, \
        and whoever drops out catches up again before the evening comes.
        """
    package static let tokenCount = 64

    /// The largest absolute difference of the logits of 64 tokens of text.
    ///
    /// - Parameters:
    ///   - model: the base model, with its weights and its tokenizer.
    ///   - team: that computes.
    ///   - adapters: both, read for the model.
    ///   - check: asked before each token; what it throws ends the comparison.
    /// - Returns: the difference; infinite if a logit is NaN.
    /// - Throws: `TokenizerError`; `FormatError`; what `check` throws.
    package static func largestDifference(
        _ model: AdaptedModel, team: ComputeTeam,
        _ adapters: (AdapterParameters, AdapterParameters), check: () throws -> Void
    ) throws -> Float {
        let ids = try tokens(of: model)
        let weights = try model.generationWeights(team: team)
        func session(_ adapter: AdapterParameters) -> DecoderSession {
            DecoderSession(weights: weights, adapter: adapter, capacity: ids.count, team: team)
        }
        let (one, other) = (session(adapters.0), session(adapters.1))
        return try ids.reduce(0) { largest, id in
            try check()
            return zip(
                one.logits(after: [id], as: .answer), other.logits(after: [id], as: .answer)
            ).reduce(largest) {
                let difference = abs($1.0 - $1.1)
                // A NaN is no agreement.
                return difference.isNaN ? .infinity : max($0, difference)
            }
        }
    }

    private static func tokens(of model: AdaptedModel) throws -> [Int32] {
        let limit = min(tokenCount, model.model.configuration.contextLength)
        guard model.model.tokenizerSource != nil else {
            // A model without a tokenizer gets any ids.
            let vocabulary = model.model.configuration.vocabularySize
            return (0..<limit).map { Int32($0 * 7919 % vocabulary) }
        }
        return Array(try model.tokenizer().ids(of: text).prefix(limit))
    }
}
