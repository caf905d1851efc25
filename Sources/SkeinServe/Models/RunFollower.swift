import Foundation
import SkeinBasics
import SkeinTraining

/// Serves the newest checkpoint of a run that is being trained (`--follow`): looks for one every second
/// on a thread of its own.
final class RunFollower: Sendable {
    private let models: ServedModels
    private let name: String
    private let directory: String
    private let log: Log
    private let isOver = Condition(false)
    private let end = TimedCondition()

    private static let interval = Duration.seconds(1)

    /// - Throws: `ServeError.nameTaken`, `.noThread`.
    init(_ directory: String, name: String, models: ServedModels, log: Log) throws {
        self.models = models
        self.name = name
        self.directory = directory
        self.log = log
        try models.follow(name, in: directory)
        guard SystemThread.start("skein-follow", { [self] in follow() }) else {
            throw ServeError.noThread
        }
    }

    func stop() {
        isOver.change { $0 = true }
        end.withLock { end.broadcast() }
    }

    private func follow() {
        var served: Int?
        // One that cannot be read is not tried again and again.
        var failed: Int?
        while !isOver.change({ $0 }) {
            let store = CheckpointStore(directory: FilePath.join(directory, "checkpoints"))
            // While there is no run yet, there are no checkpoints either.
            let newest = (try? store.steps())?.last
            if let newest, newest != served, newest != failed {
                do {
                    try models.replace(name, path: store.path(ofStep: newest), step: newest)
                    log.info("serving \(name) at step \(newest)")
                    served = newest
                } catch {
                    let what = (error as? any Explained)?.explanation.what ?? "\(error)"
                    log.warning("the checkpoint of step \(newest) cannot be served: \(what)")
                    // Too few descriptors, for example, will not last.
                    if (error as? FileError)?.isPassing != true { failed = newest }
                }
            }
            end.withLock { _ = end.wait(until: .now + Self.interval) }
        }
    }
}
