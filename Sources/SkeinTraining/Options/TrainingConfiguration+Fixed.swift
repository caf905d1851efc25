import SkeinBasics
import SkeinModels

extension TrainingConfiguration {
    /// The recipe of benchmarks and goldens. It names what the defaults were until they were measured, so
    /// that numbers stay what they are when a default changes.
    package static let fixed: TrainingConfiguration = {
        var configuration = TrainingConfiguration()
        configuration.rank = 8
        configuration.alpha = 16
        configuration.dropout = 0.05
        configuration.targetModules = [.query, .key, .value, .output]
        configuration.learningRate = 1e-4
        configuration.schedule = .constant
        configuration.warmupSteps = 0
        configuration.epochs = 3
        return configuration
    }()

    /// The same as it would be typed.
    package static let fixedWords = words { _ in true }

    /// The same for a run that starts from an adapter, without what the adapter has an answer to.
    package static let fixedWordsBesideAdapter = words { AdapterOption(rawValue: $0) == nil }

    private static func words(where isNamed: (String) -> Bool) -> [String] {
        RecipeOptions.measured.filter { isNamed($0.description.name) }.flatMap { option in
            ["--" + option.description.name, fixed.recipe.text(of: option) ?? ""]
        }
    }
}
