import SkeinBasics
import SkeinFormats

/// A part of a model's name that says which checkpoint of a run is meant: `RUN@50`, `RUN@latest`.
struct CheckpointName: Sendable, Equatable {
    var run: String
    /// nil: the newest.
    var step: Int?

    init?(_ name: String) {
        guard let at = name.lastIndex(of: "@"), at > name.startIndex else { return nil }
        run = String(name[..<at])
        let word = name[name.index(after: at)...]
        if word == "latest" {
            step = nil
        } else if let number = Int(word), number >= 0, String(number) == word {
            step = number
        } else {
            return nil
        }
    }

    /// The step and the path of the checkpoint in a run's directory.
    ///
    /// - Throws: `ServeError.noCheckpoint`; `FileError` when the directory cannot be listed.
    func find(in directory: String) throws -> (step: Int, path: String) {
        let folder = CheckpointFolder(ofRun: directory)
        let steps = try folder.steps()
        guard let found = step.map({ steps.contains($0) ? $0 : nil }) ?? steps.last else {
            throw ServeError.noCheckpoint(run: run, step: step.map(String.init) ?? "latest")
        }
        return (found, folder.path(ofStep: found))
    }
}
