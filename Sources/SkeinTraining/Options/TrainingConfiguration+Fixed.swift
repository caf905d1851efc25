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
    package static let fixedWords: [String] = {
        let table = RecipeOptions.table
        let named: [any AnyOption] = [
            table.rank, table.alpha, table.dropout, table.targetModules, table.learningRate,
            table.schedule, table.warmupSteps, table.epochs,
        ]
        return named.flatMap { option in
            ["--" + option.description.name, fixed.recipe.text(of: option) ?? ""]
        }
    }()
}
