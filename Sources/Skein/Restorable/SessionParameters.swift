import Foundation

/// Where a training session keeps its progress, and how often it reports and saves.
///
/// Only `iterations` shapes the result.
public struct SessionParameters: Sendable, Equatable {
    /// The folder that holds the progress; a run directory of `skein train`. nil: a temporary one,
    /// which is removed when nothing refers to the session, its task or its result any more. A program
    /// that ends before that, by `exit` or a signal, leaves it in the folder for temporary files.
    public var sessionDirectory: URL?
    /// Training iterations between two reports; 1 or more.
    public var reportInterval: Int
    /// Training iterations between two checkpoints; 1 or more. There is one after each validation, too,
    /// and after each epoch.
    public var checkpointInterval: Int
    /// Training iterations (optimizer steps) of the whole session, 1 or more; nil: what the recipe
    /// says, which is all of its epochs unless it has `iterations` of its own.
    public var iterations: Int?

    public init(
        sessionDirectory: URL? = nil, reportInterval: Int = 5, checkpointInterval: Int = 10,
        iterations: Int? = nil
    ) {
        self.sessionDirectory = sessionDirectory
        self.reportInterval = reportInterval
        self.checkpointInterval = checkpointInterval
        self.iterations = iterations
    }
}

extension SessionParameters {
    /// - Throws: `SkeinError` for a number below 1, or a directory that is not a local file.
    func check() throws {
        for (name, value) in [
            ("reportInterval", reportInterval), ("checkpointInterval", checkpointInterval),
            ("iterations", iterations ?? 1),
        ] where value < 1 {
            throw SkeinError(
                code: .usage, what: "`\(name)` is \(value)", place: "SessionParameters",
                remedy: "use 1 or more")
        }
        if let sessionDirectory, !sessionDirectory.isFileURL {
            throw SkeinError(
                code: .usage, what: "a session directory is a folder on this machine",
                place: String(sessionDirectory.absoluteString.prefix(200)),
                remedy: "make the URL with URL(fileURLWithPath:)")
        }
    }
}
