import Foundation
import SkeinBasics
import SkeinTraining
import Synchronization

/// Serves the newest checkpoint of a run that is being trained (`--follow`): looks for one every second
/// on a thread of its own.
final class RunFollower: Sendable {
    private let models: ServedModels
    private let name: String
    private let directory: String
    private let log: Log
    private let isOver = Condition(false)
    private let end = TimedCondition()
    private let lookCount = Mutex(0)

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

    /// How often it has looked.
    var looks: Int { lookCount.withLock { $0 } }

    func stop() {
        isOver.change { $0 = true }
        end.withLock { end.broadcast() }
    }

    private func follow() {
        var state = State()
        while !isOver.change({ $0 }) {
            look(&state)
            lookCount.withLock { $0 += 1 }
            end.withLock { _ = end.wait(until: .now + Self.interval) }
        }
    }

    private struct State {
        /// The checkpoint that was looked at last, for good.
        var seen: Checkpoint?
        /// What was said of an error; it is not said every second.
        var said = ""
    }

    private struct Checkpoint: Equatable {
        var step: Int
        /// A run that is trained anew has another one of the same step.
        var files: FileIdentity
    }

    private func look(_ state: inout State) {
        let store = CheckpointStore(directory: FilePath.join(directory, "checkpoints"))
        var step: Int?
        do {
            // While there is no run yet, there are no checkpoints either.
            step = try store.steps().last
            guard let step else {
                state.said = ""
                return
            }
            let path = store.path(ofStep: step)
            let newest = Checkpoint(step: step, files: try FileIdentity(of: path))
            guard newest != state.seen else { return }
            do {
                try models.replace(name, path: path, step: step)
                log.info("serving \(name) at step \(step)")
                // Should it fail again, that is news.
                state.said = ""
            } catch {
                // Too few descriptors, for example, will not last; anything else is not tried again.
                if (error as? FileError)?.isPassing == true { throw error }
                warn(step, error, &state)
            }
            state.seen = newest
        } catch {
            warn(step, error, &state)
        }
    }

    private func warn(_ step: Int?, _ error: any Error, _ state: inout State) {
        var cause = "\(error)"
        if let explanation = (error as? any Explained)?.explanation {
            cause = [explanation.what, explanation.place, explanation.remedy]
                .filter { !$0.isEmpty }.joined(separator: ": ")
        }
        let text =
            step.map { "the checkpoint of step \($0) of \(name) cannot be served: \(cause)" }
            ?? "the checkpoints of \(name) cannot be looked for: \(cause)"
        if text != state.said { log.warning(text) }
        state.said = text
    }
}
