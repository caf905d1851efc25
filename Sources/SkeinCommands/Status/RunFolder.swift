import Foundation
import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinTraining
import SkeinWatch

/// How far a run is, by the files of its folder alone: whether it goes on, was stopped, or is complete.
/// It takes no lock and changes nothing.
struct RunFolder: Sendable, Equatable {
    enum State: String, Sendable, Equatable {
        case running
        case complete
        case stopped
        /// No process has it, and how many steps it should have is not known.
        case ended
    }

    let path: String
    private(set) var state = State.ended
    private(set) var step = 0
    private(set) var epoch = 0
    /// nil: the run has kept no adapter yet, whose card says it.
    private(set) var stepCount: Int?
    private(set) var firstLoss: Double?
    private(set) var lastLoss: Double?
    private(set) var startValidation: Double?
    private(set) var lastValidation: Double?
    private(set) var best: ValidationMetrics?
    private var validationsSinceBest = 0
    /// The step of the newest checkpoint.
    private(set) var checkpoint: Int?
    private(set) var hasAdapter = false
    /// Since metrics.jsonl was last written.
    private(set) var age: Double?

    /// Reads the folder.
    ///
    /// - Parameters:
    ///   - path: of the folder.
    ///   - now: the time, to tell when metrics.jsonl was written.
    /// - Throws: `WatchError.notARun`; `FileError`, `TrainingError`.
    init(path: String, now: Date = Date()) throws {
        self.path = FilePath.trimmed(path)
        let paths = RunPaths(directory: self.path)
        guard try FileKind.at(paths.runFile) != nil else {
            throw WatchError.notARun(path: path)
        }
        let run = try RunFile(path: paths.runFile)
        try readMetrics(paths.metrics, run.configuration.usedBestMetric)
        checkpoint = try paths.checkpoints.steps().last
        hasAdapter = DiskStore().exists(paths.adapter)
        let card = FilePath.join(paths.adapter, AdapterNotes.cardName)
        stepCount = run.configuration.iterations
        if stepCount == nil, DiskStore().exists(card) {
            stepCount = ModelCard.stepCount(
                of: try BoundedInput.read(path: card, limit: Limits.cardBytes))
        }
        // The card of a run that has become longer may be that of its former end.
        if let count = stepCount, count < step { stepCount = nil }
        let patience = run.configuration.earlyStopPatience
        let isDone =
            step > 0 && stepCount == step
            || patience.map { validationsSinceBest >= $0 } ?? false
        state =
            try RunDirectory.isInUse(self.path)
            ? .running : isDone ? .complete : stepCount == nil ? .ended : .stopped
        // Without a file there is no age; one that cannot be read was an error above.
        let written = try? FileManager.default.attributesOfItem(atPath: paths.metrics)
        age = (written?[.modificationDate] as? Date).map { max(0, now.timeIntervalSince($0)) }
    }

    private mutating func readMetrics(_ path: String, _ metric: BestMetric) throws {
        guard DiskStore().exists(path) else { return }
        let tail = MetricsTail(path: path)
        var offset = 0
        while true {
            let piece = try tail.piece(from: offset, most: 4096)
            for record in piece.records { add(record, metric) }
            guard piece.end > offset else { return }
            offset = piece.end
        }
    }

    private mutating func add(_ record: Metrics.Record, _ metric: BestMetric) {
        switch record {
        case .step(let metrics):
            if firstLoss == nil { firstLoss = metrics.loss }
            (step, epoch, lastLoss) = (metrics.step, metrics.epoch, metrics.loss)
        case .validation(let metrics) where metrics.step == 0: startValidation = metrics.loss
        case .validation(let metrics):
            guard metrics.loss != nil else { return }
            lastValidation = metrics.loss
            if metrics.isBetter(than: best, by: metric) {
                (best, validationsSinceBest) = (metrics, 0)
            } else {
                validationsSinceBest += 1
            }
        case .sample: break
        }
    }
}

// For people and for programs.
extension RunFolder {
    /// The folder, the step, the loss: one line.
    var line: String {
        var parts = [
            path, "step \(step)" + (stepCount.map { "/\($0)" } ?? ""), state.rawValue,
        ]
        if let firstLoss, let lastLoss {
            let (first, last) = (Figures.fixed(firstLoss, 4), Figures.fixed(lastLoss, 4))
            parts.append(step > 1 ? "loss \(first) -> \(last)" : "loss \(last)")
        }
        if let lastValidation {
            parts.append("validation loss \(Figures.fixed(lastValidation, 4))")
        }
        return parts.joined(separator: "  ")
    }

    /// What it does, or what can be done with it.
    var why: String {
        let command = ShellWords.line(["skein", "train", "--resume", "--output", path])
        let written = age.map { ", and wrote its last line \(Figures.seconds($0)) ago" } ?? ""
        return switch state {
        case .running: "a process has this run\(written)"
        case .complete: "the run is complete"
        case .stopped:
            "the run was stopped \(step == 0 ? "before its first step" : "after step \(step)"); "
                + "continue it with: \(command)"
        case .ended: "no process has this run; if it was stopped, continue it with: \(command)"
        }
    }

    /// Several lines, ending with a line break.
    var text: String {
        var lines = [line, why]
        if let best, let loss = best.loss {
            let start = startValidation.map { ", \(Figures.fixed($0, 4)) before the first" } ?? ""
            lines.append(
                "best validation loss \(Figures.fixed(loss, 4)) after step \(best.step)\(start)")
        }
        if let checkpoint { lines.append("newest checkpoint: step \(checkpoint)") }
        if hasAdapter { lines.append("adapter: \(FilePath.join(path, "adapter"))") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// One object on one line.
    var json: JSONValue {
        func number(_ value: Double?) -> JSONValue {
            value.flatMap { $0.isFinite ? .decimal($0) : nil } ?? .null
        }
        func count(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
        return JSONValue.fields([
            (
                "run",
                .fields([
                    ("output", .text(path)), ("step", .integer(step)),
                    ("step_count", count(stepCount)), ("epoch", .integer(epoch)),
                    ("loss", number(lastLoss)), ("first_loss", number(firstLoss)),
                    ("validation_loss", number(lastValidation)),
                    ("best_validation_loss", number(best?.loss)), ("best_step", count(best?.step)),
                    ("start_validation_loss", number(startValidation)),
                ])
            ),
            ("state", .text(state.rawValue)), ("why", .text(why)),
            ("checkpoint", count(checkpoint)),
            (
                "adapter",
                hasAdapter ? .text(FilePath.join(path, "adapter")) : .null
            ),
            ("seconds_since_write", number(age)),
        ])
    }
}
