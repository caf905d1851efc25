import Foundation
import SkeinBasics
import SkeinTraining

extension TrainingSession {
    /// A moment of a session on disk, from which it can continue.
    ///
    /// `TrainingTask.checkpoints` tells of each as it is written, and `TrainingSession.checkpoints`
    /// has those that are still there. The folder is an adapter, too, which can be tried while the
    /// training goes on.
    public struct Checkpoint: Sendable, Equatable, Codable {
        /// Its folder, which is also an adapter in PEFT's format.
        public let url: URL
        /// Always `training`: the rows' tokens are no checkpoint.
        public let phase: Phase
        /// Training iterations done.
        public let iteration: Int
        /// When it was written.
        public let date: Date
        /// What was known of its iteration.
        public let metrics: [TrainingTask.Progress.Metric: Double]
    }
}

extension TrainingSession.Checkpoint {
    typealias Metrics = [TrainingTask.Progress.Metric: Double]

    /// nil if it has been removed, or is not whole.
    init?(step: Int, in directory: SessionDirectory, metrics: Metrics) {
        let path = directory.checkpoints.path(ofStep: step)
        let manifest = FilePath.join(path, "manifest.json")
        // It was removed since it was listed, or is not whole; continuing reads it with its errors.
        let attributes = try? FileManager.default.attributesOfItem(atPath: manifest)
        guard let date = attributes?[.modificationDate] as? Date else { return nil }
        self.init(
            url: URL(fileURLWithPath: path, isDirectory: true), phase: .training, iteration: step,
            date: date, metrics: metrics)
    }

    /// All checkpoints in a run directory, oldest first, with what metrics.jsonl says of them.
    ///
    /// - Throws: `FileError`.
    static func all(in directory: SessionDirectory) throws -> [Self] {
        let steps = try directory.checkpoints.steps()
        guard !steps.isEmpty else { return [] }
        var metrics: [Int: Metrics] = [:]
        if DiskStore().exists(directory.metrics) {
            let wanted = Set(steps)
            try SkeinTraining.Metrics.readWhatIsWhole(path: directory.metrics) { record in
                switch record {
                case .step(let line) where wanted.contains(line.step):
                    metrics[line.step, default: [:]].merge(line.progress) { $1 }
                case .validation(let line) where wanted.contains(line.step):
                    metrics[line.step, default: [:]].merge(line.progress) { $1 }
                default: break
                }
            }
        }
        return steps.compactMap { Self(step: $0, in: directory, metrics: metrics[$0] ?? [:]) }
    }
}

extension Adapter {
    /// Opens the adapter of a checkpoint, as it was at that iteration.
    ///
    /// - Throws: `SkeinError` if its files are missing or damaged.
    public init(checkpoint: TrainingSession.Checkpoint) throws {
        try self.init(at: checkpoint.url.path)
    }
}

extension StepMetrics {
    var progress: [TrainingTask.Progress.Metric: Double] {
        [.loss: loss, .tokensPerSecond: tokensPerSecond]
    }
}

extension ValidationMetrics {
    var progress: [TrainingTask.Progress.Metric: Double] {
        var metrics: [TrainingTask.Progress.Metric: Double] = [:]
        metrics[.validationLoss] = loss
        metrics[.accuracy] = tokenAccuracy
        return metrics
    }
}
