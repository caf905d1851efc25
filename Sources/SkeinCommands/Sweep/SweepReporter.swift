import Foundation
import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinTraining
import SkeinWatch
import Synchronization

/// Reports a sweep: lines with the recipe's name in front, and every few seconds how far all are.
final class SweepReporter: Sendable {
    private let io: CommandIO
    private let sweep: SweepRun
    private let exports: [RunExports]
    private let state: Mutex<State>

    private struct State: Sendable {
        /// The last step of each run.
        var steps: [Int]
        var losses: [Double?]
        var hasEnded: [Bool]
        /// Tokens that were trained since the first step of this process, and when that began.
        var tokens = 0
        var began: ContinuousClock.Instant?
        var done = 0
        var told: ContinuousClock.Instant?
        var hasToldFeatures = false
    }

    /// Time between lines about all runs.
    private static let pause = Duration.seconds(10)

    init(_ io: CommandIO, _ sweep: SweepRun, exports: RunExports.Options) {
        self.io = io
        self.sweep = sweep
        self.exports = sweep.members.map { member in
            var options = exports
            options.tensorBoard = options.tensorBoard.map { FilePath.join($0, member.name) }
            return RunExports(options, output: member.request.output, log: io.log)
        }
        let count = sweep.members.count
        state = Mutex(
            State(
                steps: [Int](repeating: 0, count: count),
                losses: [Double?](repeating: nil, count: count),
                hasEnded: [Bool](repeating: false, count: count)))
    }

    /// Shows what is trained.
    func showData() {
        let job = sweep.runs[0].job
        for line in job.report.lines { io.log.info(line) }
        for (member, run) in zip(sweep.members, sweep.runs) {
            if !run.job.resolved.isEmpty {
                io.log.info(
                    "[\(member.name)] what is not given: "
                        + run.job.resolved.map(\.sentence).joined(separator: ", "))
            }
            for warning in run.job.report.warnings.map(\.text) + run.job.adapterWarnings {
                io.log.warning("[\(member.name)] \(warning)")
            }
        }
        if let warning = sweep.runs.compactMap(\.job.contextWarning).first {
            io.log.warning(warning)
        }
        for note in job.model.notes { io.log.warning(note) }
        io.log.info(
            "sweep: \(Figures.count(sweep.members.count, "recipe")) on one copy of the model"
                + (sweep.members.count == 1 ? "" : ", which take turns step by step"))
        io.log.info("engine: \(job.runFile.fingerprint)")
    }

    func show(_ event: SweepRun.Event) throws {
        switch event {
        case .memory(let estimate, let residence):
            io.log.info(
                "memory: about \(MemoryError.gibibytes(estimate.total)) for all: weights "
                    + "\(MemoryError.gibibytes(estimate.weights)) (\(residence.rawValue)), adapters and "
                    + "optimizers \(MemoryError.gibibytes(estimate.adapter))")
        case .warning(let text): io.log.warning(text)
        case .featuresNotShared(let reason):
            io.log.warning("the blocks below the adapters are computed by each recipe: \(reason)")
        case .loaded:
            io.interrupt.listen { [io] in
                io.log.warning(
                    "stopping after this step, with checkpoints; interrupt again to stop at once")
            }
        case .run(let index, let event): try show(event, of: index)
        case .ended(let index, let ending):
            switch ending {
            case .ended(let ending): exports[index].finish(try RunExports.Outcome(ending))
            case .failed(let error):
                exports[index].finish(RunExports.Outcome(error))
                let explanation = (error as? any Explained)?.explanation
                say(
                    index,
                    "failed: \(explanation?.what ?? "\(error)"); \(explanation?.remedy ?? "")",
                    level: .error)
            }
            state.withLock { $0.hasEnded[index] = true }
        }
    }

    private func show(_ event: TrainingRun.Event, of index: Int) throws {
        switch event {
        case .memory, .loaded, .ready, .trained, .measuringKept: return
        case .features(let plan, let kept):
            let isFirst = state.withLock { state in
                defer { state.hasToldFeatures = true }
                return !state.hasToldFeatures
            }
            if isFirst {
                io.log.info(plan.sentence + (kept > 0 ? ", where \(kept) are already" : ""))
            }
        case .references(let count): say(index, References.sentence(rows: count))
        case .warning(let text): say(index, text, level: .warning)
        case .loop(let event):
            exports[index].note(event)
            show(event, of: index)
        }
    }

    private func show(_ event: TrainingLoop.Event, of index: Int) {
        switch event {
        case .step(let metrics, _): note(metrics, of: index)
        case .validation(let metrics, _) where metrics.tokens == 0: return
        case .validation(let metrics, let isBest):
            let loss = metrics.loss.map { String(format: "%.4f", $0) } ?? "none"
            say(
                index,
                "step \(metrics.step)  validation loss \(loss)\(isBest ? ", the best so far" : "")")
        case .resumed(let step, let rejected):
            for error in rejected {
                say(index, error.explanation.located, level: .warning)
            }
            if step > 0 { say(index, "resuming after step \(step)") }
            state.withLock { $0.steps[index] = step }
        case .sample(let sample):
            let answer = sample.text.map { JSONValue.quoted($0) } ?? "nothing"
            say(index, "step \(sample.step)  \(JSONValue.quoted(sample.prompt)) -> \(answer)")
        case .stoppedEarly(let step, let best):
            say(index, "leaves after step \(step): the best validation was at step \(best)")
        case .adapterRestored(let step):
            say(
                index, "the adapter was missing; restored from the checkpoint of step \(step)",
                level: .warning)
        case .ledgerDoubted(let error):
            say(index, error.explanation.located, level: .warning)
        case .otherEngines(let step, _):
            say(index, RunFile.otherEngines(from: step), level: .warning)
        case .rowsNotRecorded(let path, let beginToken):
            say(
                index, TrainingReporter.rowsNotRecorded(path, beginToken: beginToken),
                level: .warning)
        case .noticed(let finding): say(index, finding.text, level: .warning)
        case .checkpoint: return
        }
    }

    private func say(_ index: Int, _ text: String, level: Log.Level = .info) {
        let line = "[\(sweep.members[index].name)] \(text)"
        switch level {
        case .info: io.log.info(line)
        case .warning: io.log.warning(line)
        case .error: io.log.error(line)
        }
    }

    /// Counts a step, and says now and then how far all are.
    private func note(_ metrics: StepMetrics, of index: Int) {
        let now = ContinuousClock.now
        let line: String? = state.withLock { state in
            state.steps[index] = metrics.step
            state.losses[index] = metrics.loss
            let began = state.began ?? now - .seconds(metrics.seconds)
            state.began = began
            state.tokens += metrics.tokens
            state.done += 1
            guard state.told.map({ now - $0 >= Self.pause }) ?? true else { return nil }
            state.told = now
            return self.progress(state, seconds: (now - began) / .seconds(1))
        }
        if let line { io.log.info(line) }
    }

    private func progress(_ state: State, seconds: Double) -> String {
        let counts = sweep.runs.map(\.job.plan.stepCount)
        let total = counts.reduce(0, +)
        let done = state.steps.reduce(0, +)
        let left = zip(counts, zip(state.steps, state.hasEnded)).reduce(0) {
            $0 + ($1.1.1 ? 0 : $1.0 - $1.1.0)
        }
        let losses = state.losses.map { $0.map { String(format: "%.3f", $0) } ?? "-" }
        var text =
            "step \(done)/\(total) of all  loss \(losses.joined(separator: " "))  "
            + "\(Int(Double(state.tokens) / max(seconds, 1e-9))) tokens/s"
        if left > 0, state.done > 0 {
            let rest = seconds / Double(state.done) * Double(left)
            text += "  ETA " + ProgressLine.duration(.seconds(rest))
        }
        return text
    }
}
