import SkeinBasics
import SkeinTraining

extension Recipe {
    /// A kind of rows for which options go together, as for `skein train --recipe`.
    /// `Recipe(for: .chat)` begins with them, and any of them can be changed afterwards.
    public enum Kind: String, Sendable, CaseIterable {
        /// Questions and short answers.
        case facts
        /// Conversations of several turns.
        case chat
        /// One of a few answers to each row.
        case classify
        /// Texts as they are, whose manner is learned.
        case style
        /// A better and a worse answer to each prompt.
        case preference
    }

    /// The options that go together for a kind of rows: those of `skein train --recipe`, in the same
    /// version.
    ///
    /// - Parameter kind: The kind of the rows.
    public init(for kind: Kind) {
        var configuration = TrainingConfiguration()
        var unnamed = Set(MeasuredOption.allCases)
        guard let recipe = NamedRecipe(rawValue: kind.rawValue) else {
            preconditionFailure("a test has a recipe for every kind")
        }
        for option in RecipeOptions.options {
            guard let text = recipe.texts[option.description.name],
                !option.description.isAutomatic(text)
            else { continue }
            // Its texts are accepted by their options, as a test says.
            _ = configuration.recipe.set(option, to: text)
            MeasuredOption(rawValue: option.description.name).map { _ = unnamed.remove($0) }
        }
        self.init(configuration, unnamed: unnamed)
    }
}
