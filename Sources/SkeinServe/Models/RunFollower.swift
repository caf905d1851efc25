import SkeinBasics

/// Serves the newest checkpoint of a run that is being trained (`--follow`): looks for one every second
/// on a thread of its own.
final class RunFollower: Sendable {
    private let isOver = Condition(false)

    private static let interval = Duration.seconds(1)

    /// - Throws: `ServeError.nameTaken`, `.noThread`.
    init(_ directory: String, name: String, models: ServedModels, log: Log) throws {
        try models.follow(name, in: directory)
        let watch = RunWatch(directory, name: name, models: models, log: log)
        guard SystemThread.start("skein-follow", { [self] in follow(watch) }) else {
            throw ServeError.noThread
        }
    }

    func stop() {
        isOver.change { $0 = true }
    }

    private func follow(_ watch: RunWatch) {
        var watch = watch
        var isOver = isOver.change { $0 }
        while !isOver {
            watch.look()
            isOver = self.isOver.wait(until: .now + Self.interval) { $0 ? true : nil } ?? false
        }
    }
}
