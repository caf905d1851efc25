import SkeinBasics
import SkeinFormats
import SkeinInference

/// Looks for newer checkpoints of a run and puts them in the place of the one that is served.
struct RunWatch: Sendable {
    private let models: ServedModels
    private let name: String
    private let directory: String
    private let log: Log
    /// The checkpoint that was looked at last, for good.
    private var seen: Checkpoint?
    /// What was said of an error; it is not said at every look.
    private var said = ""

    init(_ directory: String, name: String, models: ServedModels, log: Log) {
        self.models = models
        self.name = name
        self.directory = directory
        self.log = log
    }

    private struct Checkpoint: Equatable {
        var step: Int
        /// A run that is trained anew has another one of the same step.
        var files: FileIdentity
    }

    /// Looks once; takes as long as reading a checkpoint.
    mutating func look() {
        let folder = CheckpointFolder(ofRun: directory)
        var step: Int?
        do {
            // While there is no run yet, there are no checkpoints either.
            step = try folder.steps().last
            guard let step else {
                said = ""
                return
            }
            let path = folder.path(ofStep: step)
            let newest = Checkpoint(step: step, files: try FileIdentity(of: path))
            guard newest != seen else { return }
            do {
                try models.replace(name, path: path, step: step)
                log.info("serving \(name) at step \(step)")
                // Should it fail again, that is news.
                said = ""
            } catch {
                // Too few descriptors, for example, will not last; anything else is not tried again, nor
                // is a disk that cannot read it, each second.
                if let file = error as? FileError, file.isPassing, !file.isOfDisk { throw error }
                if case .full? = error as? AdapterMemoryError { throw error }
                warn(step, error)
            }
            seen = newest
        } catch {
            warn(step, error)
        }
    }

    private mutating func warn(_ step: Int?, _ error: any Error) {
        var cause = "\(error)"
        if let explanation = (error as? any Explained)?.explanation {
            cause = [explanation.what, explanation.place, explanation.remedy]
                .filter { !$0.isEmpty }.joined(separator: ": ")
        }
        let text =
            step.map { "the checkpoint of step \($0) of \(name) cannot be served: \(cause)" }
            ?? "the checkpoints of \(name) cannot be looked for: \(cause)"
        var news = text
        // How much is held changes with each request.
        if case .full? = error as? AdapterMemoryError { news = "no room for step \(step ?? 0)" }
        if news != said { log.warning(text) }
        said = news
    }
}
