import SkeinBasics

extension TrainingConfiguration {
    /// Options that follow from model and rows where they are not given (`auto`). They are resolved to
    /// numbers before anything reads them: digest, run.json and offer have numbers alone.
    package enum AutomaticOption: String, CaseIterable, Sendable {
        case learningRate = "learning-rate"
        case warmupSteps = "warmup-steps"
        case epochs

        package var description: OptionDescription {
            let table = RecipeOptions.table
            return switch self {
            case .learningRate: table.learningRate.description
            case .warmupSteps: table.warmupSteps.description
            case .epochs: table.epochs.description
            }
        }
    }

    /// Takes options from the record of a run that goes on: what it began with, it goes on with.
    mutating func take(_ options: Set<AutomaticOption>, of recorded: TrainingConfiguration) {
        if options.contains(.learningRate) { self.learningRate = recorded.learningRate }
        if options.contains(.warmupSteps) { self.warmupSteps = recorded.warmupSteps }
        if options.contains(.epochs) { self.epochs = recorded.epochs }
    }
}

/// A value that a run has found for an option that was left to it.
package struct ResolvedOption: Sendable, Equatable {
    /// The option, without its dashes.
    package let name: String
    package let text: String
    /// What it follows from, in words.
    package let reason: String
}
