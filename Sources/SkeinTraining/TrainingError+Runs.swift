import SkeinBasics

// The longer sentences about run directories, their records, and the run itself.
extension TrainingError {
    static func resumeDiffers(
        _ path: String, _ differences: [Difference]
    ) -> Explanation {
        let made = differences.contains { RunFile.madeFields.contains($0.field) }
        var remedy =
            made
            ? "model, data and options are the same, but this skein encodes, splits or groups the "
                + "rows differently: resume with the version that the file names"
            : "resume with the recorded settings"
        remedy += ", or start a new run with another --output"
        if differences.contains(where: { $0.field == RunFile.fingerprintField }) {
            remedy +=
                "; the fingerprint is that of skein's engine on this processor; if it names "
                + "OpenBLAS, it depends on the environment variable OPENBLAS_CORETYPE, too; "
                + "if it ends with \"linear\" and a factor, versions before 2026-11-22 rotated "
                + "this model's positions by a different one"
        }
        return Explanation(
            what: "the run was started with other \(made ? "rows or another plan" : "settings"): "
                + differences.map {
                    "\($0.field) was \($0.recorded) and is now \($0.requested)"
                }.joined(separator: "; "), place: path, remedy: remedy, status: .badData)
    }

    static func notFinite(_ what: String, _ checkpoint: String?) -> Explanation {
        Explanation(
            what: what,
            place: checkpoint.map { "the last good checkpoint is \($0)" }
                ?? "there is no checkpoint yet",
            remedy: "lower --learning-rate, or set --max-grad-norm and --warmup-steps",
            status: .badData)
    }
}

extension CheckpointProblem {
    var what: String {
        switch self {
        case .noManifest(let detail): "its manifest.json cannot be used (\(detail))"
        case .wrongSize(let file, let expected, let found?):
            "\(file) has \(found) bytes instead of \(expected)"
        case .wrongSize(let file, let expected, nil): "\(file) (\(expected) bytes) is missing"
        case .wrongDigest(let file): "\(file) has a different SHA-256 than the manifest says"
        case .unfit(let file, let detail): "\(file): \(detail)"
        }
    }
}

extension LedgerFinding {
    package var what: String {
        switch self {
        case .missing(let step, let microBatch):
            "micro-batch \(microBatch) of step \(step) has no line"
        case .repeated(let step, let microBatch, let count):
            "micro-batch \(microBatch) of step \(step) has \(count) lines"
        case .outOfRange(let step, let microBatch, let count):
            "step \(step) has \(count) micro-batches, but a line for \(microBatch)"
        case .outOfOrder(let step, let after): "step \(step) comes after step \(after)"
        case .stepMissing(let step): "step \(step) was committed, but has no line"
        case .uncommitted(let step): "step \(step) has lines, but was not committed"
        case .metricsEnd(let step, let last):
            "step \(step) was done, but the metrics end with step \(last)"
        case .metricsOutOfOrder(let expected, let found):
            "the metrics have step \(found) where step \(expected) should be"
        case .tokensDiffer(let step, let ledger, let metrics):
            "step \(step) has \(ledger) tokens in the ledger and \(metrics) in the metrics"
        case .lossTokensDiffer(let step, let ledger, let metrics):
            "step \(step) has \(ledger) loss tokens in the ledger and \(metrics) in the metrics"
        case .lossDiffers(let step, let ledger, let metrics):
            "step \(step) has the loss \(ledger) in the ledger and \(metrics) in the metrics"
        case .parametersDiffer(let step, let microBatch, let first, let found):
            "micro-batch \(microBatch) of step \(step) was computed with the parameters \(found), and "
                + "others of the step with \(first)"
        case .parametersUnknown(let step, let checkpoint, let found):
            "step \(step) was computed with the parameters \(found), and those after step \(step - 1) "
                + "are \(checkpoint)"
        }
    }
}
