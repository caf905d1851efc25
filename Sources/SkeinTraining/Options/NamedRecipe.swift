import SkeinBasics
import SkeinTensors

/// Options that go together for a kind of rows (`--recipe`): what is measured for it (docs/RECIPES.md), and
/// what a person would otherwise find out by a run that disappoints. Nothing of a run knows the name: it has
/// the options, which anything else that is given overrides.
package enum NamedRecipe: String, CaseIterable, Sendable {
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

    /// What it is for, in the words of the option's help.
    package var purpose: String {
        switch self {
        case .facts: "short answers"
        case .chat: "conversations"
        case .classify: "one of a few answers"
        case .style: "texts whose manner is learned"
        case .preference: "better and worse answers"
        }
    }

    /// Those of its options that need rows which are held out.
    package static let ofValidation = [
        RecipeOptions.table.validateEvery.description, RecipeOptions.table.bestMetric.description,
        RecipeOptions.table.earlyStopPatience.description,
    ].map(\.name)

    /// Its options by name, as they would be typed.
    package var texts: [String: String] {
        let table = RecipeOptions.table
        let automatic = OptionDescription.automatic
        // Today's defaults by name, and often enough a validation: the best adapter of a small run is seldom
        // that of its end.
        var options: [(any AnyOption, String)] = [
            (table.targetModules, "all-linear"), (table.rank, "16"), (table.alpha, "32"),
            (table.dropout, "0"), (table.learningRate, automatic), (table.schedule, "linear"),
            (table.warmupSteps, automatic), (table.epochs, automatic),
            (table.validateEvery, "25"),
        ]
        switch self {
        case .facts: break
        case .chat: options.append((table.maxLength, "1024"))
        case .classify:
            // The loss of rows that are answered wrongly rises long before more of them are.
            options.append((table.bestMetric, BestMetric.accuracy.rawValue))
        case .style:
            // The best validation of texts comes early, and what follows costs time alone.
            options += [(table.textChunks, "on"), (table.earlyStopPatience, "3")]
        case .preference:
            // It learns to write the better answer, too, and needs no pass of a reference.
            options.append((table.loss, PreferenceLoss.Kind.orpo.rawValue))
        }
        return Dictionary(
            uniqueKeysWithValues: options.map { ($0.0.description.name, $0.1) })
    }
}
