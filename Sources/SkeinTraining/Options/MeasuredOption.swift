import SkeinBasics

/// Options whose defaults are measured, and so may change with what is measured (docs/RECIPES.md).
///
/// Those that were not given follow from model and rows (`automatic`) or have the table's default; but a
/// run that goes on takes all of them from its record, whichever version began it. They are numbers before
/// anything reads them: digest, run.json and offer name every one. With `--iterations` nothing counts
/// epochs, and their number there is the table's.
package enum MeasuredOption: String, CaseIterable, Sendable {
    case rank
    case alpha
    case dropout
    case targetModules = "target-modules"
    case learningRate = "learning-rate"
    case schedule
    case warmupSteps = "warmup-steps"
    case epochs

    /// Those whose default follows from model and rows (`auto`).
    package static let automatic: Set<MeasuredOption> = [.learningRate, .warmupSteps, .epochs]

    /// Its declaration.
    package var option: any AnyOption {
        let table = RecipeOptions.table
        return switch self {
        case .rank: table.rank
        case .alpha: table.alpha
        case .dropout: table.dropout
        case .targetModules: table.targetModules
        case .learningRate: table.learningRate
        case .schedule: table.schedule
        case .warmupSteps: table.warmupSteps
        case .epochs: table.epochs
        }
    }
}

extension TrainingConfiguration {
    /// Takes options from the record of a run.
    package mutating func take(_ options: Set<MeasuredOption>, of recorded: TrainingConfiguration) {
        for option in options.map(\.option) {
            guard let text = recorded.recipe.text(of: option) else { continue }
            // A recorded value is accepted: it was read by the same format.
            _ = recipe.set(option, to: text)
        }
    }
}

/// A value that a run has found for an option that was left to it.
package struct ResolvedOption: Sendable, Equatable {
    /// The option, without its dashes.
    package let name: String
    package let text: String
    /// What it follows from, in words.
    package let reason: String

    /// `--learning-rate 0.002 (a model 576 wide)`.
    package var sentence: String { "--\(name) \(text) (\(reason))" }
}
