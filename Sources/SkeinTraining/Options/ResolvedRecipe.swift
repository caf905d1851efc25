import SkeinBasics
import SkeinModels
import SkeinTensors

/// Every value that shapes the result of a run, also those that no option gave.
///
/// `TrainingConfiguration.digest` covers the options as they were given. What an absent one means is
/// code, and two versions of it may differ: so a coordinator and its workers compare what each of them
/// has resolved, and a resumed run compares it with what it was started with.
package enum ResolvedRecipe {
    /// Options that are newer than the first digests: the digest of a run names them only where they are
    /// given, so that those of runs without them stay what they were.
    private static let later = Set(
        [
            RecipeOptions.table.reference.description, RecipeOptions.table.splitBy.description,
            RecipeOptions.table.textChunks.description,
            RecipeOptions.table.splitSeed.description,
        ].map(\.name))

    /// - Parameters:
    ///   - configuration: of the run, as this process has read it.
    ///   - shape: of its adapter on the run's model.
    /// - Returns: one SHA-256 of all values, by name.
    /// - Throws: `TrainingError.badCombination`, as `LocalSettings`.
    package static func digest(
        _ configuration: TrainingConfiguration, _ shape: AdapterShape
    ) throws(TrainingError) -> SHA256.Digest {
        var fields = DigestFields("skein resolved recipe 1")
        for option in RecipeOptions.options {
            let (name, text) = (option.description.name, configuration.recipe.text(of: option))
            if text == nil, later.contains(name) { continue }
            fields.append(name)
            fields.append(text ?? "")
        }
        for (name, number) in numbers(configuration, shape) {
            fields.append(name)
            fields.append(Int(truncatingIfNeeded: number.bitPattern))
        }
        if let local = try LocalSettings(configuration) {
            fields.append(local.codec.kind.rawValue)
            for number in [
                Double(local.shape.steps), Double(local.shape.workers), local.codec.density,
                local.outer.learningRate, local.outer.momentum,
            ] { fields.append(Int(truncatingIfNeeded: number.bitPattern)) }
        }
        for entry in shape.layout.entries {
            fields.append(entry.name)
            for number in entry.shape + [entry.offset] { fields.append(number) }
        }
        return fields.finish()
    }

    private static func numbers(
        _ configuration: TrainingConfiguration, _ shape: AdapterShape
    ) -> [(String, Double)] {
        let (adamW, loss) = (configuration.adamW, configuration.preferenceLoss)
        // The schedule as it is used, of a run of 1,000 steps.
        let rates = configuration.learningRates(stepCount: 1000)
        return [
            ("beta1", adamW.beta1), ("beta2", adamW.beta2), ("epsilon", adamW.epsilon),
            ("weight decay", adamW.weightDecay), ("norm", configuration.maxGradNorm),
            ("dropout", configuration.dropout), ("rank", Double(shape.configuration.rank)),
            ("scale", Double(shape.configuration.scale)),
            ("smoothing", configuration.labelSmoothing ?? 0),
            ("noise", configuration.neftuneAlpha ?? 0),
            ("rate of B", configuration.loraPlusRatio ?? 1),
            ("rate of an embedding", RateFactor.embeddingRate),
            ("micro-batch", Double(configuration.microBatchTokens)),
            ("pairs' beta", loss?.beta ?? 0), ("pairs' gamma", loss?.gamma ?? 0),
        ] + [1, 2, 10, 500, 999, 1000].map { ("rate of step \($0)", rates.rate(ofStep: $0)) }
    }
}
