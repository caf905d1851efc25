import SkeinTraining

extension UpdateTask {
    /// When a task calls its handlers.
    public struct Events: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Everything is loaded; the first step comes next.
        public static let trainingBegin = Events(rawValue: 1)
        /// A step is done.
        public static let miniBatchEnd = Events(rawValue: 2)
        /// An epoch is done, and its validation, if there are rows for it.
        public static let epochEnd = Events(rawValue: 4)
        /// The task is over, well or not. The completion handler is always called.
        public static let completion = Events(rawValue: 8)
    }

    /// Code that a task calls. The progress handler is called on the task's thread, at `events`; the
    /// task then waits for `resume()` or `cancel()`. The completion handler is called once, on the
    /// caller's thread if the task never began.
    public struct ProgressHandlers: Sendable {
        let events: Events
        let progressHandler: (@Sendable (Context) -> Void)?
        let completionHandler: @Sendable (Context) -> Void

        /// - Parameters:
        ///   - events: When to call the progress handler.
        ///   - progressHandler: Called on the task's thread. The task is then suspended, until
        ///     `resume()` or `cancel()` is called, there or later.
        ///   - completionHandler: Called once, at the end.
        public init(
            forEvents events: Events = [],
            progressHandler: (@Sendable (Context) -> Void)? = nil,
            completionHandler: @escaping @Sendable (Context) -> Void = { _ in }
        ) {
            self.events = events
            self.progressHandler = progressHandler
            self.completionHandler = completionHandler
        }
    }

    /// A figure of an update, as a handler is told it.
    public enum Metric: String, Sendable, CaseIterable {
        /// Mean loss of the step's loss tokens, before its update; in nats.
        case lossValue
        /// Mean loss over the validation rows, after an epoch.
        case validationLoss
        /// Share of the validation rows' loss tokens that the model considers the most likely.
        case accuracy
        /// Counted from 1.
        case epochIndex
        /// The step, counted from 1, through all epochs.
        case miniBatchIndex
    }

    /// A value of the recipe, as a handler is told it.
    public enum Parameter: String, Sendable, CaseIterable {
        case learningRate
        case epochs
        case miniBatchSize
        /// 1 or 0.
        case shuffle
        case seed
        case beta1
        case beta2
        case eps
    }

    /// What a handler is told: the event, its figures, and at the end the new version.
    public struct Context: Sendable {
        public let task: UpdateTask
        /// The one that has happened.
        public let event: Events
        public let metrics: [Metric: Double]
        /// As the recipe has them; `learningRate` is that of the step. What is left to the run is not here.
        public let parameters: [Parameter: Double]
        /// The new version; nil before the completion, and if the task failed.
        public let adapter: Adapter?
    }
}

extension UpdateTask.Context {
    /// The event of a moment, its figures and its learning rate.
    static func facts(
        of moment: SessionRun.Moment
    ) -> (event: UpdateTask.Events, metrics: [UpdateTask.Metric: Double], rate: Double?) {
        switch moment {
        case .begun: return (.trainingBegin, [:], nil)
        case .iteration(let line):
            return (
                .miniBatchEnd,
                [
                    .lossValue: line.loss, .epochIndex: Double(line.epoch),
                    .miniBatchIndex: Double(line.step),
                ], line.learningRate
            )
        case .epoch(let epoch, let line):
            var metrics: [UpdateTask.Metric: Double] = [.epochIndex: Double(epoch)]
            metrics[.miniBatchIndex] = line.map { Double($0.step) }
            metrics[.validationLoss] = line?.loss
            metrics[.accuracy] = line?.tokenAccuracy
            return (.epochEnd, metrics, nil)
        }
    }
}

extension Recipe {
    /// The values that an update task tells; those that are left to the run are not known.
    func values(learningRate: Double?) -> [UpdateTask.Parameter: Double] {
        var values: [UpdateTask.Parameter: Double] = [
            .miniBatchSize: Double(batchSize), .shuffle: shuffle ? 1 : 0, .seed: Double(seed),
            .beta1: beta1, .beta2: beta2, .eps: epsilon,
        ]
        values[.learningRate] = learningRate
        values[.epochs] = epochs.map { Double($0) }
        return values
    }
}
