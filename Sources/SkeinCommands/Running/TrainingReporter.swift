import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinTensors
import SkeinTraining
import Synchronization

/// Reports a training run to people or to a log.
final class TrainingReporter: Sendable {
    private let io: CommandIO
    private let job: TrainingJob
    private let board: RunBoard
    /// The loop's thread and the interrupt's queue both write lines.
    let state: Mutex<State>

    struct State: Sendable {
        var display: ProgressDisplay
        var firstStep = 0
        /// Whether the run is over, and its adapter is measured.
        var isMeasuring = false
        /// When the first step of this process began: the time before it says nothing about the pace.
        var began: ContinuousClock.Instant?
    }

    /// - Parameters:
    ///   - io: Where to write.
    ///   - job: The run.
    ///   - board: How far it is; the caller notes each event there before `show`.
    init(_ io: CommandIO, job: TrainingJob, board: RunBoard) {
        self.io = io
        self.job = job
        self.board = board
        state = Mutex(State(display: ProgressDisplay(io)))
    }

    /// Reports the rows with an example, warnings about them, the adapter and the engine.
    func showData() {
        let report = job.report
        for line in report.lines { io.log.info(line) }
        showResolved()
        for warning in report.warnings { io.log.warning(warning.text) }
        showTokens()
        if let warning = job.contextWarning { io.log.warning(warning) }
        for warning in job.adapterWarnings { io.log.warning(warning) }
        for note in job.model.notes { io.log.warning(note) }
        let lora = job.shape.configuration
        io.log.info(
            "adapter: rank \(lora.rank), scale \(lora.scale) (alpha / rank), "
                + adapted(lora).joined(separator: " and ") + ", "
                + "\(job.shape.layout.count) trained parameters")
        io.log.info("engine: \(job.runFile.fingerprint)")
    }

    /// Reports what was left to the run.
    private func showResolved() {
        if job.resolved.isEmpty { return }
        io.log.info(
            "what is not given: " + job.resolved.map(\.sentence).joined(separator: ", "),
            [
                ("event", .text("resolved")),
                ("options", .fields(job.resolved.map { ($0.name, .text($0.text)) })),
            ])
    }

    /// What has an adapter, in blocks and outside of them.
    private func adapted(_ lora: LoRAConfiguration) -> [String] {
        func names(_ targets: [TargetModule]) -> String {
            targets.map(\.name).joined(separator: ", ")
        }
        let (edges, modules) = (
            lora.targets.filter(\.isEdge), lora.targets.filter { !$0.isEdge }
        )
        let blocks =
            "\(names(modules)) in \(lora.layers.count) of "
            + Figures.count(job.model.configuration.layerCount, "layer")
        return (modules.isEmpty ? [] : [blocks]) + (edges.isEmpty ? [] : [names(edges)])
    }

    /// Reports how many rows had to be encoded.
    private func showTokens() {
        let origin = job.tokenOrigin
        var parts: [String] = []
        if origin.cachedRows > 0 {
            parts.append(Figures.count(origin.cachedRows, "row") + " from the token cache")
        }
        if origin.encodedRows > 0 || parts.isEmpty {
            parts.append(Figures.count(origin.encodedRows, "row") + " encoded")
        }
        io.log.info(
            "tokens: " + parts.joined(separator: ", "),
            [
                ("event", .text("tokens")), ("cached_rows", .integer(origin.cachedRows)),
                ("encoded_rows", .integer(origin.encodedRows)),
            ])
        for warning in origin.warnings { io.log.warning(warning.text) }
    }

    /// Reports how long it took until the first step could begin.
    func showReady() {
        board.began()
        ReadyLine.tell(io.log)
    }

    func showMemory(_ estimate: MemoryEstimate, residence: WeightResidence) {
        let size = MemoryError.gibibytes
        let judging = estimate.judging > 0 ? ", validation \(size(estimate.judging)) more" : ""
        io.log.info(
            "memory: about \(size(estimate.total)): weights \(size(estimate.weights)) "
                + "(\(residence.rawValue)), \(estimate.threads) x \(size(estimate.workspace)) of "
                + "activations\(judging), adapter and optimizer \(size(estimate.adapter))")
    }

    func show(_ event: TrainingLoop.Event) {
        switch event {
        case .rowsNotRecorded(let path, let beginToken):
            warn(Self.rowsNotRecorded(path, beginToken: beginToken))
        case .otherEngines(let step, let isAdmitting): tellOtherEngines(step, isAdmitting)
        case .resumed(let step, let rejected):
            for error in rejected {
                warn(error.explanation.located)
            }
            state.withLock { $0.firstStep = step }
            let beginning = rejected.isEmpty ? " yet" : " is usable; starting from the beginning"
            info(
                step == 0
                    ? "resuming: no checkpoint" + beginning : "resuming after step \(step)",
                [("event", .text("resumed")), ("step", .integer(step))])
        case .step(let metrics, let stepCount):
            let now = ContinuousClock.now
            let run = board.progress
            let began = state.withLock { state in
                let began = state.began ?? now - .seconds(metrics.seconds)
                state.began = began
                return began
            }
            guard metrics.step % job.configuration.reportEvery == 0 || metrics.step == stepCount
            else { return }
            state.withLock {
                $0.display.show(
                    TrainingProgress(
                        run: run, epoch: metrics.epoch, began: began, firstStep: $0.firstStep))
            }
        // Without held-out rows there is nothing to say; a warning at the start has said that.
        case .validation(let metrics, _) where metrics.tokens == 0: break
        case .validation(let metrics, let isBest):
            let accuracy =
                metrics.namesAccuracy ? ", accuracy \(Self.decimals(metrics.tokenAccuracy))" : ""
            let best =
                !isBest
                ? ""
                : board.progress.isImprovement == false
                    ? ", the best so far, but no better than before the first step"
                    : ", the best so far"
            info(
                "step \(metrics.step)  validation loss \(Self.decimals(metrics.loss))\(accuracy) over "
                    + "\(Figures.count(metrics.tokens, job.comparesAnswers ? "pair" : "token"))\(best)",
                Self.facts(of: metrics, isBest: isBest))
        case .sample(let sample):
            let answer =
                sample.text.map { JSONValue.quoted($0) } ?? "nothing: the logits are not finite"
            info(
                "step \(sample.step)  \(JSONValue.quoted(sample.prompt)) -> \(answer)",
                Self.facts(of: sample))
        case .checkpoint(let step, let path):
            info(
                "step \(step)  checkpoint \(path)",
                [
                    ("event", .text("checkpoint")), ("step", .integer(step)),
                    ("path", .text(path)),
                ])
        case .ledgerDoubted(let error):
            warn(
                "\(error.explanation.located); the run continues with "
                    + "the same result, but nothing proves it any more unless this file is "
                    + "restored from a copy")
        case .adapterRestored(let step):
            warn("the adapter was missing; restored from the checkpoint of step \(step)")
        case .stoppedEarly(let step, let best):
            info(
                "stopping early after step \(step): the best validation was at step \(best)",
                [
                    ("event", .text("stopped_early")), ("step", .integer(step)),
                    ("best_step", .integer(best)),
                ])
        case .noticed(let finding):
            warn(
                finding.text,
                [
                    ("event", .text("noticed")), ("kind", .text(finding.kind.rawValue)),
                    ("step", .integer(finding.step)),
                ])
        }
    }

    private func tellOtherEngines(_ step: Int, _ isAdmitting: Bool) {
        guard !isAdmitting else {
            return warn(
                "workers with other engines are admitted from step \(step) on, as run.json says from "
                    + "now on: the result depends on who computes what")
        }
        warn(
            RunFile.otherEngines(from: step)
                + "; from here on only equal engines are admitted, which does not change that")
    }

    /// From now on Ctrl-C and SIGTERM stop the run with a checkpoint.
    func stopOnInterrupt() {
        io.interrupt.listen { [self] in
            warn(Self.stopping(isMeasuring: state.withLock(\.isMeasuring)))
        }
    }

    /// What the first Ctrl-C is answered with.
    static func stopping(isMeasuring: Bool) -> String {
        (isMeasuring
            ? "the run is complete; stopping without advice"
            : "stopping after this step, and its validation if it has one, with a checkpoint "
                + "(before the first step without)") + "; interrupt again to stop at once"
    }

    /// Prints the results on standard output.
    ///
    /// - Throws: `CommandError.interrupted` for a run that is not complete; `.runNotImproved`.
    func showEnding(_ ending: RunEnding) throws {
        finishLine()
        let (outcome, directory) = (ending.outcome, ending.directory)
        board.ended()
        guard outcome.isComplete else {
            throw CommandError.interrupted(step: outcome.step, directory: directory.path)
        }
        try io.print("adapter: \(directory.adapter) (of step \(outcome.keptStep))")
        try io.print("sha256: \(directory.adapterDigest())")
        if let loss = outcome.bestValidationLoss {
            try io.print("validation loss: \(Self.decimals(loss))")
        }
        if let start = outcome.improvement?.start.loss {
            try io.print("validation loss before the first step: \(Self.decimals(start))")
        }
        if let test = ending.test { try io.print("test loss: \(Self.decimals(test.loss))") }
        let isRequired = job.configuration.requireImprovement == true
        try CommandError.check(
            outcome.improvement, place: directory.adapter, isRequired: isRequired, io.log)
    }

    /// The warning about a run whose rows cannot be compared; `beginToken` is the token that such
    /// versions did not put before texts.
    static func rowsNotRecorded(_ path: String, beginToken: String?) -> String {
        var text =
            "the version of skein that began this run did not record its rows and plan, so it "
            + "cannot be checked that this one makes the same from the data (\(path))"
        if let beginToken {
            text +=
                "; with this model, rows of text and pairs in the formats eos and raw now begin "
                + "with \(beginToken), which such versions left out: if the data has any, the run "
                + "would continue on different rows, so start a new run with another --output, or "
                + "resume with the version that began this one"
        }
        return text
    }

    func warn(_ text: String, _ facts: [(String, JSONValue)] = []) {
        state.withLock { $0.display.finishLine() }
        io.log.warning(text, facts)
    }

    func finishLine() {
        state.withLock { $0.display.finishLine() }
        io.panel?.end(board.progress)
    }

    func info(_ text: String, _ facts: [(String, JSONValue)]) {
        state.withLock { $0.display.finishLine() }
        io.log.info(text, facts)
    }

    /// What `--log-format json` has besides the sentence, under the names of metrics.jsonl.
    static func facts(of metrics: ValidationMetrics, isBest: Bool) -> [(String, JSONValue)] {
        func number(_ value: Double?) -> JSONValue { value.map { .decimal($0) } ?? .null }
        return [
            ("event", .text("validation")), ("step", .integer(metrics.step)),
            ("epoch", .integer(metrics.epoch)), ("validation_loss", number(metrics.loss)),
            ("validation_tokens", .integer(metrics.tokens)),
            ("validation_accuracy", number(metrics.tokenAccuracy)), ("is_best", .bool(isBest)),
        ]
    }

    static func facts(of sample: SampleMetrics) -> [(String, JSONValue)] {
        [
            ("event", .text("sample")), ("step", .integer(sample.step)),
            ("epoch", .integer(sample.epoch)), ("prompt", .text(sample.prompt)),
            ("text", sample.text.map { .text($0) } ?? .null),
            ("tokens", .integer(sample.tokens)),
        ]
    }

    private static func decimals(_ number: Double?) -> String {
        number.map { String(format: "%.4f", $0) } ?? "none"
    }
}
