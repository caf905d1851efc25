/// What can be wrong with the options, run directory and records of a training run.
///
/// Cases carry facts; `TrainingError+Explained.swift` turns them into prose.
package enum TrainingError: Error, Equatable {
    // Options
    /// `value` is not allowed for `--flag`; `allowed` says in words what is.
    case badOption(flag: String, value: String, allowed: String)
    /// No option has this name.
    case unknownOption(name: String)
    /// `--flag` is given without another option that it needs, or with one that it excludes.
    case badCombination(flag: String, problem: OptionCombination)
    /// `--reference` with a loss that reads none.
    case noReference(loss: String)
    /// `--layers` names layers that a model of `layerCount` layers does not have.
    case layersOutOfRange(layers: String, layerCount: Int)

    // Run directories
    /// The output directory is not empty, and `--resume` was not given.
    case outputNotEmpty(path: String)
    /// The output is a file, or something else that is no directory.
    case outputIsFile(path: String)
    /// Another process uses this directory.
    case outputInUse(path: String)
    /// Another process has raised the directory's term, to `found`, while this one ran: it had, or
    /// had found, `own`. nil: there was or is no term that can be read.
    case takenOver(path: String, own: UInt32?, found: UInt32?)
    /// `--resume` on a directory that has files but no `run.json`.
    case notARunDirectory(path: String)
    /// `--resume` with anything other than what the run was started with.
    case resumeDiffers(path: String, differences: [Difference])
    /// `--resume` with more steps than the run was begun with, where `option` (`--schedule linear`) makes
    /// each step depend on their number.
    case lengthFixed(path: String, recorded: Int, requested: Int, option: String)
    /// A run would become longer by beginning again: no checkpoint before its end, `step`, is there.
    case lengthBeginsAgain(path: String, step: Int)
    /// A record (run.json, state.json, a line of a .jsonl file) that is not as Skein wrote it.
    case damagedRecord(path: String, line: Int?, detail: String)
    /// A checkpoint that cannot be used.
    case damagedCheckpoint(path: String, problem: CheckpointProblem)
    /// A checkpoint with a file that the disk cannot read now, and may read later.
    case unreadableCheckpoint(path: String, file: String, code: Int32)
    /// The ledger does not prove that every micro-batch was used exactly once.
    case ledgerRefuted(path: String, findings: Int, first: LedgerFinding)
    /// The kept adapter, of step `step`, is neither in the run directory nor in a checkpoint.
    case adapterLost(path: String, step: Int)

    /// `--require-improvement` on a resumed run whose metrics at `path` have no validation before the
    /// first step.
    case startNotValidated(path: String)

    // The run itself
    /// A log-probability under the reference model is NaN, infinite or above 0.
    case referencesNotFinite
    /// Worker `now` has computed other log-probabilities of a group of rows than `then`, with whose the
    /// run was computed so far.
    case referencesDiffer(rows: String, group: Int, then: String, now: String)
    /// A line of a run that an older version began names other inputs than the references of now make:
    /// its steps were computed with other ones.
    case referencesOfOtherSteps(
        path: String, step: Int, microBatch: Int, workers: [String], folder: String?)
    /// The loss of a step is NaN or infinite.
    case lossNotFinite(step: Int, lastCheckpoint: String?)
    /// The gradient of a step is NaN or infinite, first in `tensor`.
    case gradientNotFinite(step: Int, tensor: String, lastCheckpoint: String?)
    /// Each time that `what` ("step 7") was computed, a result was wrong.
    case spoiled(what: String, times: Int)
}

/// Why two options do not go together; the other one's name, without dashes.
package enum OptionCombination: Error, Equatable, Sendable {
    case needs(String)
    case excludes(String)
}

/// One setting that differs between a run and an attempt to resume it.
package struct Difference: Sendable, Equatable {
    package var field: String
    /// What the run was started with.
    package var recorded: String
    /// What is asked for now.
    package var requested: String

    package init(field: String, recorded: String, requested: String) {
        self.field = field
        self.recorded = recorded
        self.requested = requested
    }
}

/// Why a checkpoint cannot be used.
package enum CheckpointProblem: Error, Equatable, Sendable {
    /// The manifest is missing, or not what Skein writes.
    case noManifest(detail: String)
    /// A file that the manifest names is missing or has another size.
    case wrongSize(file: String, expected: Int, found: Int?)
    case wrongDigest(file: String)
    /// All hashes are right, but the contents do not belong to this run.
    case unfit(file: String, detail: String)
}
