import Foundation
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinTraining

/// The files of a run directory, read only. Unlike `RunDirectory` this takes no lock and removes
/// nothing, so a run can be inspected while it goes on.
struct RunPaths: Sendable {
    let directory: String

    var runFile: String { path("run.json") }
    var metrics: String { path("metrics.jsonl") }
    var ledger: String { path("ledger.jsonl") }
    var adapter: String { path("adapter") }
    var checkpoints: CheckpointStore { CheckpointStore(directory: path("checkpoints")) }

    private func path(_ name: String) -> String {
        FilePath.join(directory, name)
    }
}

extension Facts {
    /// A run directory, whether the run has ended or goes on.
    ///
    /// - Throws: `TrainingError.damagedRecord`, `FileError`. A damaged checkpoint is not an error.
    init(runAt paths: RunPaths) throws {
        let run = try RunFile(path: paths.runFile)
        add("kind", "run")
        add("path", paths.directory)
        add("version", run.version)
        add("fingerprint", run.fingerprint)
        if let step = run.otherEnginesFrom {
            add(
                "other_engines_from_step", .integer(step), shown: RunFile.otherEngines(from: step))
        }
        add("model", run.model)
        add("model_sha256", run.modelDigest)
        add("data", run.data)
        add("data_sha256", run.dataDigest)
        if let digest = run.validationDigest { add("validation_sha256", digest) }
        if let digest = run.testDigest { add("test_sha256", digest) }
        if let digest = run.initAdapterDigest { add("init_adapter_sha256", digest) }
        if let digest = run.rowsDigest { add("rows_sha256", digest) }
        if let digest = run.planDigest { add("plan_sha256", digest) }
        if let digest = run.referencesDigest { add("references_sha256", digest) }
        if let answer = run.knownAnswer { add("known_answer", answer) }
        if let digest = run.recipeDigest { add("recipe_sha256", digest) }
        add("configuration_sha256", run.configuration.digest.description)
        add(
            "configuration", .fields(run.configuration.fields),
            shown: run.configuration.fields.filter { $0.1 != .null }
                .map { "--\($0.0) \($0.1.optionText ?? $0.1.written)" }.joined(separator: "\n"))
        try addProgress(paths, run.configuration.usedBestMetric)
        try addCheckpoints(paths)
        try addResult(paths)
    }

    /// Verifies the ledger and adds the result.
    ///
    /// - Throws: `TrainingError.ledgerRefuted` when it proves nothing;
    ///   `TrainingError.damagedRecord`, `FileError`.
    mutating func addLedger(_ paths: RunPaths) throws {
        let run = try RunFile(path: paths.runFile)
        let report = try Ledger.verify(
            ledger: paths.ledger, metrics: paths.metrics,
            parameters: try Self.parameters(afterStepsIn: paths.checkpoints),
            references: run.referencesDigest, groupsFromBeginning: run.knownAnswer != nil)
        if let first = report.findings.first {
            throw TrainingError.ledgerRefuted(
                path: first.isOfMetrics ? paths.metrics : paths.ledger,
                findings: report.findingCount, first: first)
        }
        add(
            "ledger",
            .fields([
                ("steps", .integer(report.steps)), ("micro_batches", .integer(report.microBatches)),
                ("tokens", .integer(report.tokens)), ("loss_tokens", .integer(report.lossTokens)),
                ("groups", .integer(report.groups)),
            ]),
            shown: "each micro-batch was counted exactly once: "
                + "\(Figures.count(report.steps, "step")), "
                + Figures.count(report.microBatches, "micro-batch", plural: "micro-batches") + ", "
                + "\(Figures.count(report.tokens, "token")), "
                + "\(Figures.grouped(report.lossTokens)) of them with loss"
                + (report.groups == 0
                    ? ""
                    : "; so was each group of validation, test and reference rows, "
                        + "\(Figures.grouped(report.groups)) in all"))
    }

    /// What the checkpoints say that the steps after them are computed with. One that is damaged, that the
    /// disk cannot read, or that disappears meanwhile, says nothing; `addCheckpoints` names it.
    private static func parameters(afterStepsIn store: CheckpointStore) throws -> [Int: String] {
        var found: [Int: String] = [:]
        for step in try store.steps() {
            do {
                let state = try Checkpoint.verify(directory: store.path(ofStep: step))
                found[step] = state.parametersDigest
            } catch is TrainingError {
                continue
            } catch let error as FileError
                where error.isOfDisk
                || !FileManager.default.fileExists(atPath: store.path(ofStep: step))
            {
                continue
            }
        }
        return found
    }

    private mutating func addProgress(_ paths: RunPaths, _ metric: BestMetric) throws {
        var first: StepMetrics?
        var last: StepMetrics?
        var best: ValidationMetrics?
        var start: ValidationMetrics?
        var tokens = 0
        // A run that was just started has no metrics yet.
        if FileManager.default.fileExists(atPath: paths.metrics) {
            try Metrics.read(path: paths.metrics) { record in
                switch record {
                case .step(let metrics):
                    if first == nil { first = metrics }
                    last = metrics
                    tokens &+= metrics.tokens
                case .validation(let metrics):
                    if metrics.step == 0 { start = metrics }
                    if metrics.isBetter(than: best, by: metric) { best = metrics }
                case .sample: break
                }
            }
        }
        add("steps", last?.step ?? 0)
        add("epoch", last?.epoch ?? 0)
        add("tokens", tokens)
        add("first_loss", first.map { .decimal($0.loss) } ?? .null)
        add("last_loss", last.map { .decimal($0.loss) } ?? .null)
        if let start { add("start_validation_loss", start.loss.map { .decimal($0) } ?? .null) }
        add("best_validation_loss", best?.loss.map { .decimal($0) } ?? .null)
        if metric == .accuracy {
            add("best_validation_accuracy", best?.tokenAccuracy.map { .decimal($0) } ?? .null)
        }
        add("best_validation_step", best.map { .integer($0.step) } ?? .null)
    }

    private mutating func addCheckpoints(_ paths: RunPaths) throws {
        var values: [JSONValue] = []
        var lines: [String] = []
        for step in try paths.checkpoints.steps() {
            var problem: String?
            do {
                _ = try Checkpoint.verify(directory: paths.checkpoints.path(ofStep: step))
            } catch {
                problem = ErrorReport.explanation(of: error).what
            }
            values.append(
                .fields([
                    ("step", .integer(step)), ("verified", .bool(problem == nil)),
                    ("problem", problem.map { .text($0) } ?? .null),
                ]))
            lines.append("step \(step): " + (problem ?? "verified"))
        }
        add(
            "checkpoints", .list(values),
            shown: lines.isEmpty ? "none" : lines.joined(separator: "\n"))
    }

    private mutating func addResult(_ paths: RunPaths) throws {
        let weights = FilePath.join(paths.adapter, AdapterFiles.weightsName)
        guard FileManager.default.fileExists(atPath: weights) else {
            return add("adapter_sha256", .null)
        }
        add("adapter_sha256", try Self.digest(ofFile: weights))
    }
}
