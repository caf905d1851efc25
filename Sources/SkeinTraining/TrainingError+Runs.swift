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
        if differences.contains(where: { $0.field == RunFile.answerField }) {
            remedy =
                "by its fingerprint this engine computes what that of the run did, and it does not: "
                + "check this machine's memory and processor, or resume on the other machine or "
                + "with the version of skein that the file names"
        }
        if differences.contains(where: { $0.field == RunFile.referencesField }) {
            remedy =
                "what is kept in the folder references (in the run's directory, or of train in the "
                + "cache directory), or was computed now, is not what the run was computed with: "
                + "remove that folder and resume, so that it is computed again; if it differs all "
                + "the same, start a new run with another --output"
        }
        return Explanation(
            what: "the run was started with other \(made ? "rows or another plan" : "settings"): "
                + differences.map {
                    "\($0.field) was \($0.recorded) and is now \($0.requested)"
                }.joined(separator: "; "), place: path, remedy: remedy, status: .badData)
    }

    static func lengthFixed(
        _ path: String, _ recorded: Int, _ requested: Int, _ option: String
    ) -> Explanation {
        let run = FilePath.parent(of: path)
        return Explanation(
            what: "the run was begun with \(Figures.count(recorded, "step")) and cannot go on to "
                + "\(requested): with \(option) the learning rate of every step depends on how many "
                + "there are",
            place: path,
            remedy: "resume with the recorded number, or begin a second part from its adapter: "
                + "skein train --extend \(ShellWords.quoted(run)) --output DIR",
            status: .badData)
    }

    static func lengthBeginsAgain(_ path: String, _ step: Int) -> Explanation {
        let run = FilePath.parent(of: path)
        return Explanation(
            what: "the longer run would begin again at step 1: the checkpoint of step \(step) is "
                + "not one of it, and there is none from before that is",
            place: path,
            remedy: "begin the longer run in another --output, or a second part from this one's "
                + "adapter: skein train --extend \(ShellWords.quoted(run)) --output DIR",
            status: .badData)
    }

    static func takenOver(_ path: String, _ own: UInt32?, _ found: UInt32?) -> Explanation {
        let mine = own.map { "term \($0)" } ?? "none"
        let now =
            switch found {
            case nil: "its term no longer names this process, which had \(mine)"
            case own: "both have taken \(mine) at the same moment, and the other one was last"
            case let found?: "its term is \(found), and this process had \(mine)"
            }
        return Explanation(
            what: "another coordinator, or train, has taken over this directory: \(now)",
            place: path,
            remedy: "nothing: this process writes nothing more, and the other one goes on; if it "
                + "should not be there, stop it, and start this one again with --resume; a "
                + "directory is taken over when its lock is lost, as on a network file system "
                + "whose host was away, or which has no working locks (flock)",
            // No file has failed, and a restart would only take the run away from the other one:
            // launch restarts for 74.
            status: .peerGone)
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
            "micro-batch \(microBatch) of step \(step) has \(Figures.count(count, "line"))"
        case .outOfRange(let step, let microBatch, let count):
            "step \(step) has "
                + Figures.count(count, "micro-batch", plural: "micro-batches")
                + ", but a line for \(microBatch)"
        case .outOfOrder(let step, let after): "step \(step) comes after step \(after)"
        case .stepMissing(let step): "step \(step) was committed, but has no line"
        case .uncommitted(let step): "step \(step) has lines, but was not committed"
        case .metricsEnd(let step, let last):
            "step \(step) was done, but the metrics end with step \(last)"
        case .metricsOutOfOrder(let expected, let found):
            "the metrics have step \(found) where step \(expected) should be"
        case .tokensDiffer(let step, let ledger, let metrics):
            "step \(step) has \(Figures.count(ledger, "token")) in the ledger and \(metrics) in the metrics"
        case .lossTokensDiffer(let step, let ledger, let metrics):
            "step \(step) has \(Figures.count(ledger, "loss token")) in the ledger and \(metrics) in the metrics"
        case .lossDiffers(let step, let ledger, let metrics):
            "step \(step) has the loss \(ledger) in the ledger and \(metrics) in the metrics"
        case .parametersDiffer(let step, let microBatch, let first, let found):
            "micro-batch \(microBatch) of step \(step) was computed with the parameters \(found), and "
                + "others of the step with \(first)"
        case .parametersUnknown(let step, let checkpoint, let found):
            "step \(step) was computed with the parameters \(found), and those after step \(step - 1) "
                + "are \(checkpoint)"
        case .groupUnexpected(let rows, let step, let expected, let found):
            "of the \(rows) after step \(step), group \(found) has a line where that of group "
                + "\(expected) should be"
        case .groupParametersDiffer(let rows, let step, let first, let found):
            "some groups of the \(rows) after step \(step) were computed with the parameters \(first), "
                + "and some with \(found)"
        case .validationParametersUnknown(let step, let expected, let found):
            "the validation after step \(step) was computed with the parameters \(found), and those "
                + "after this step are \(expected)"
        case .validationMissing(let step):
            "the validation after step \(step) has no line, as if a version before 2026-11-27 had gone "
                + "on with the run there"
        case .validationUnknown(let step):
            "a validation after step \(step) has lines, and the metrics have none"
        case .validationDiffers(let step, let field, let ledger, let metrics):
            "the validation after step \(step) has the \(field) \(ledger) in the ledger and \(metrics) "
                + "in the metrics"
        case .referencesDiffer(let recorded, let ledger):
            "the log-probabilities under the reference model have the SHA-256 \(ledger) in the ledger and "
                + "\(recorded) in run.json"
        }
    }
}
