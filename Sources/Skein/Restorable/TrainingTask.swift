import SkeinBasics
import SkeinTraining

/// A training that goes on by itself, on threads of its own.
///
/// `AdapterTrainer` begins one; `progress` and its other sequences follow it, and `result` waits
/// for its end. The sequences may be iterated by several tasks of Swift; each begins with this task's
/// first element, as long as there were no more than 4,096, and ends with the task.
public final class TrainingTask: Sendable {
    /// A report: how far a phase is, and what was measured. `SessionParameters.reportInterval` says
    /// how often one comes while the adapter is trained.
    public struct Progress: Sendable, Equatable {
        /// A figure of a report or a checkpoint.
        public enum Metric: String, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
            /// Mean loss of the iteration's loss tokens, before its update, with dropout; in nats.
            case loss
            /// Mean loss over the validation rows, in nats.
            case validationLoss
            /// Share of the validation rows' loss tokens that the model considers the most likely.
            /// It is known when they are measured; metrics.jsonl does not keep it.
            case accuracy
            /// Tokens of the iteration by its time.
            case tokensPerSecond
        }

        public let phase: TrainingSession.Phase
        /// Rows read, training iterations done, epochs evaluated or sample prompts answered.
        public let itemCount: Int
        /// As many as there will be in the whole session; nil: unknown.
        public let totalItemCount: Int?
        /// Since the task began.
        public let elapsedTime: Duration
        public let metrics: [Metric: Double]
    }

    /// The session that the task trains.
    public let session: TrainingSession
    let feeds = Feeds()
    private let settlement = Settlement<TrainedAdapter>()
    private let flag: CancelFlag

    /// What a task tells while it runs.
    final class Feeds: Sendable {
        let progress = Feed<Progress>(replays: true)
        let checkpoints = Feed<TrainingSession.Checkpoint>(replays: true)
        let phase = Feed<TrainingSession.Phase>(replays: true)
        let warnings = Feed<String>(replays: true)

        func finish() {
            progress.finish()
            checkpoints.finish()
            phase.finish()
            warnings.finish()
        }
    }

    /// Begins to train, if need be after a cancelled task in the same directory.
    ///
    /// - Parameters:
    ///   - session: that no other task trains, or only one that has been cancelled.
    ///   - flag: cancels the task when it is set.
    ///   - pause: called on the task's thread after each moment; it may block the training.
    ///   - ended: called on the task's thread at the end, before the result is given out.
    /// - Throws: `SkeinError` if a task trains in the directory that has not been cancelled, or without a
    ///   thread.
    init(
        _ session: TrainingSession, flag: CancelFlag = CancelFlag(),
        pause: (@Sendable (SessionRun.Moment) -> Void)? = nil,
        ended: (@Sendable (Result<TrainedAdapter, any Error>) -> Void)? = nil
    ) throws {
        self.session = session
        self.flag = flag
        let place = try BusyDirectories.lineUp(session.directory.path, flag)
        let run = SessionRun(session, feeds: feeds, flag: flag, pause: pause)
        let isStarted = SystemThread.start("skein-session", stackBytes: 8 << 20) {
            [feeds, settlement] in
            let result = Result {
                try SkeinError.wrapping {
                    if try BusyDirectories.wait(for: place) { try session.catchUp() }
                    return try run.run()
                }
            }
            BusyDirectories.leave(place)
            feeds.finish()
            ended?(result)
            settlement.settle(result)
        }
        guard isStarted else {
            BusyDirectories.leave(place)
            throw SkeinError.noThread
        }
    }

    /// Reports: one when the rows are read, one in each `reportInterval` training iterations, one for
    /// each evaluation, one for each answer to a sample prompt.
    public var progress: some AsyncSequence<Progress, Never> & Sendable { feeds.progress.stream() }

    /// Checkpoints when they are durable: one in each `checkpointInterval` iterations, and after
    /// each epoch and the last iteration.
    public var checkpoints: some AsyncSequence<TrainingSession.Checkpoint, Never> & Sendable {
        feeds.checkpoints.stream()
    }

    /// The session's phases, from that in which the task found it.
    public var phase: some AsyncSequence<TrainingSession.Phase, Never> & Sendable {
        feeds.phase.stream()
    }

    /// What a person should know, of the data for instance; the task continues.
    public var warnings: some AsyncSequence<String, Never> & Sendable { feeds.warnings.stream() }

    /// The trained adapter, when the task is over. If the Swift task that waits is cancelled, so is this one.
    ///
    /// - Throws: `SkeinError`, for instance if the session has another model or data;
    ///   `CancellationError` if the task was cancelled before its last iteration. What was done is
    ///   then in a checkpoint, and `AdapterTrainer.resume(_:)` continues.
    public var result: TrainedAdapter {
        get async throws { try await settlement.value(onCancel: cancel) }
    }

    /// Stops after the current iteration, and the validation that follows if an epoch ends with it,
    /// with a checkpoint; or while the task still reads, or waits. `AdapterTrainer.resume(_:)` may follow
    /// at once.
    public func cancel() { BusyDirectories.cancel(flag) }

    /// Whether the task was cancelled; it may still be about to stop.
    public var isCancelled: Bool { flag.isSet }

    /// `isCancelled`, as Create ML spells it.
    @available(*, deprecated, renamed: "isCancelled")
    public var isCanceled: Bool { isCancelled }
}
