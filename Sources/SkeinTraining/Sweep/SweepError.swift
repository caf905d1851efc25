import SkeinBasics
import SkeinJSON

/// What can be wrong with a sweep.
package enum SweepError: Error, Equatable {
    /// A recipe sets `--option`, which all share.
    case shared(recipe: String, option: String, place: String)
    /// What is wrong with one recipe.
    case recipe(String, Explanation)
    /// Two recipes have the same name, and so the same directory.
    case sameName(String, place: String)
    /// A name that cannot be a directory's.
    case badName(String, place: String)
    /// Too few or too many recipes.
    case count(Int, limit: Int, place: String)
    /// The file holds neither recipes nor lists of values.
    case notRecipes(place: String, detail: String)
    /// The output directory has files, and `--resume` was not given.
    case outputNotEmpty(path: String)
    /// The system refused a thread.
    case threadRefused
    /// Runs that ended with an error; the others are complete.
    case failed(names: [String], of: Int, output: String)
    /// Some runs were stopped; `--resume` continues them.
    case interrupted(names: [String], output: String)
}

extension SweepError: Explained {
    package var explanation: Explanation {
        switch self {
        case .shared(let recipe, let option, let place):
            Explanation(
                what: "recipe \(recipe) sets \(option), which all recipes of a sweep share",
                place: place, remedy: "give --\(option) once on the command line",
                status: .usage)
        case .recipe(let name, let problem):
            Explanation(
                what: "recipe \(name): \(problem.what)", place: problem.place,
                remedy: problem.remedy, status: problem.status)
        case .sameName(let name, let place):
            Explanation(
                what: "two recipes have the name \(name)", place: place,
                remedy: "give each a name of its own, or none", status: .badData)
        case .badName(let name, let place):
            Explanation(
                what: "\(JSONValue.quoted(name)) cannot be the name of a recipe", place: place,
                remedy: "use 1 to 64 of the characters A-Z a-z 0-9 . _ -, the first a letter or a "
                    + "digit",
                status: .badData)
        case .count(let found, let limit, let place):
            Explanation(
                what: "the sweep has \(Figures.count(found, "recipe")); 1 to \(limit) are possible",
                place: place,
                remedy: found == 0
                    ? "write one JSON object for each recipe, such as {\"rank\": 16}"
                    : "split it into several sweeps", status: .badData)
        case .notRecipes(let place, let detail):
            Explanation(
                what: "this is not a list of recipes: \(detail)", place: place,
                remedy: "write one JSON object for each recipe, such as {\"rank\": 16}, or one of "
                    + "lists that are combined, such as {\"rank\": [8, 16], \"seed\": [0, 1]}",
                status: .badData)
        case .outputNotEmpty(let path):
            Explanation(
                what: "the output directory is not empty", place: path,
                remedy: "give another --output, or --resume to continue the sweep in it",
                status: .usage)
        case .threadRefused:
            Explanation(
                what: "the system refused to start a thread", place: "",
                remedy: "raise the limit of processes (ulimit -u)", status: .inputOutput)
        case .failed(let names, let count, let output):
            Explanation(
                what: "\(names.count) of \(count) recipes failed: " + names.joined(separator: ", "),
                place: output,
                remedy: "see the messages above; the other recipes' adapters are complete",
                status: .badData)
        case .interrupted(let names, let output):
            Explanation(
                what: "interrupted before the end of \(names.joined(separator: ", "))",
                place: output, remedy: "continue with --resume", status: .interrupted)
        }
    }
}
