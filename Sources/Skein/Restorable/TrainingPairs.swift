import Foundation
import SkeinBasics
import SkeinJSON

/// A prompt and what the model should answer: a row that a program has in memory
/// (`TrainingPairs.pairs`).
public struct PromptCompletion: Sendable, Hashable, Codable {
    public var prompt: String
    public var completion: String

    public init(prompt: String, completion: String) {
        self.prompt = prompt
        self.completion = completion
    }
}

/// What a session or an update task trains on, and what a trained adapter is measured on.
///
/// Files are read by the task that trains. Pairs in memory are written to the session's directory,
/// so that the session can be restored without them.
public enum TrainingPairs: Sendable, Equatable {
    /// Files with rows in any form that `skein train` takes.
    case dataset(Dataset)
    /// Rows in memory. A session writes them into its directory, as lines of JSON: equal pairs give
    /// equal bytes, and so the adapter of `skein train` on that file.
    case pairs([PromptCompletion])

    /// A .jsonl file, or a folder with `train.jsonl`.
    public static func file(_ path: String) -> TrainingPairs { .dataset(Dataset(at: path)) }

    /// A .jsonl file, or a folder with `train.jsonl`.
    public static func file(_ url: URL) -> TrainingPairs { .file(url.path) }
}

extension TrainingPairs {
    /// - Throws: `SkeinError` for an empty array; files are read by the task.
    func check() throws {
        guard case .pairs(let pairs) = self, pairs.isEmpty else { return }
        throw SkeinError(
            code: .badData, what: "there are no pairs", place: "TrainingPairs.pairs",
            remedy: "give at least one prompt with its completion")
    }

    /// `{"prompt":...,"completion":...}` for each pair, in their order.
    static func write(_ pairs: [PromptCompletion], to path: String) throws {
        try TrainingPairs.pairs(pairs).check()
        // What a killed process left has the user's rows.
        try Unfinished.removeAbandoned(beside: path)
        try AtomicFile.write(to: path, access: .own) { output in
            for pair in pairs {
                let line = JSONValue.fields([
                    ("prompt", .text(pair.prompt)), ("completion", .text(pair.completion)),
                ])
                try Array((line.written + "\n").utf8).withUnsafeBytes { try output.append($0) }
            }
        }
    }
}
