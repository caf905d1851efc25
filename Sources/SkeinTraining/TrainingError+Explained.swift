import Foundation
import SkeinBasics

extension TrainingError: Explained {
    package var explanation: Explanation {
        switch self {
        // Options
        case .badOption(let flag, let value, let allowed):
            Explanation(
                what: "\"\(value)\" is not allowed for --\(flag)", place: "--\(flag)",
                remedy: "give \(allowed)", status: .usage)
        case .unknownOption(let name):
            Explanation(
                what: "there is no option \"\(name)\"", place: "--\(name)",
                remedy: "`skein train --help` lists all options", status: .usage)
        case .badCombination(let flag, .needs(let other)):
            Explanation(
                what: "--\(flag) needs --\(other)", place: "--\(flag)",
                remedy: "give both, or neither", status: .usage)
        case .badCombination(let flag, .excludes(let other)):
            Explanation(
                what: "--\(flag) and --\(other) exclude each other", place: "--\(flag)",
                remedy: "give one of the two", status: .usage)
        case .noReference(let loss):
            Explanation(
                what: "--loss \(loss) compares with no reference, which --loss dpo alone does",
                place: "--reference", remedy: "leave --reference out, or give --loss dpo",
                status: .usage)
        case .layersOutOfRange(let layers, let layerCount):
            Explanation(
                what: "the model has \(Figures.count(layerCount, "layer")), 0 to \(layerCount - 1)",
                place: "--layers \(layers)",
                remedy: "give all, a number up to \(layerCount) for the last ones, or a range",
                status: .usage)

        // Run directories and the run itself
        case .outputNotEmpty(let path):
            Explanation(
                what: "the output directory is not empty", place: path,
                remedy: "continue that run with --resume, or give another --output",
                status: .badData)
        case .outputIsFile(let path):
            Explanation(
                what: "the output is a file, and a directory is needed", place: path,
                remedy: "give another --output", status: .badData)
        case .outputInUse(let path):
            Explanation(
                what: "another skein process is using this directory", place: path,
                remedy: "wait for it or stop it, or give another --output",
                // It passes, so a supervisor may start the program again.
                status: .inputOutput)
        case .takenOver(let path, let own, let found):
            Self.takenOver(path, own, found)
        case .notARunDirectory(let path):
            Explanation(
                what: "there are files but no run.json, so there is nothing to resume",
                place: path, remedy: "check the path, or give an empty --output",
                status: .badData)
        case .resumeDiffers(let path, let differences):
            Self.resumeDiffers(path, differences)
        case .lengthFixed(let path, let recorded, let requested, let option):
            Self.lengthFixed(path, recorded, requested, option)
        case .lengthBeginsAgain(let path, let step): Self.lengthBeginsAgain(path, step)
        case .damagedRecord(let path, let line, let detail):
            Explanation(
                what: "the record is damaged: \(detail)",
                place: line.map { "\(path):\($0)" } ?? path,
                remedy: "restore it from a copy, or start a new run with another --output",
                status: .badData)
        case .damagedCheckpoint(let path, let problem):
            Explanation(
                what: "the checkpoint cannot be used: \(problem.what)", place: path,
                remedy: "remove it; a run resumes from the one before", status: .badData)
        case .unreadableCheckpoint(let path, let file, let code):
            Explanation(
                what: "the disk cannot read \(file) of this checkpoint: "
                    + String(cString: strerror(code)),
                place: path,
                remedy:
                    "check the disk, and resume again; if it has lost the file, move this checkpoint "
                    + "and all later ones away: the run goes on from one before them, or begins "
                    + "again, to the same adapter",
                status: .inputOutput)
        case .ledgerRefuted(let path, let findings, let first):
            Explanation(
                what: "\(first.isOfMetrics ? "the metrics have" : "the ledger has") "
                    + "\(Figures.count(findings, "finding")), the first: \(first.what)",
                place: path,
                remedy: "do not trust this adapter; train again", status: .badData)
        case .adapterLost(let path, let step):
            Explanation(
                what:
                    "the adapter of step \(step), the best so far, is missing or damaged, and no "
                    + "checkpoint has it",
                place: path,
                remedy: "restore the directory from a copy, or remove the checkpoints of step "
                    + "\(step) and later: the run then goes back and computes it again, from step "
                    + "1 if no checkpoint is left",
                status: .badData)
        case .startNotValidated(let path):
            Explanation(
                what:
                    "--require-improvement compares with a validation before the first step, and this "
                    + "run began without one", place: path,
                remedy: "resume without it, and compare with skein evaluate --require-improvement",
                status: .usage)
        case .referencesNotFinite:
            Explanation(
                what: "a log-probability under the reference model is not a finite number up to 0",
                place: "the model",
                remedy: "the model's weights may be damaged: fetch it again", status: .badData)
        case .referencesDiffer(let rows, let group, let then, let now):
            Explanation(
                what:
                    "worker \(now) computes other log-probabilities under the reference model than worker "
                    + "\(then) did, with whose the run was computed so far",
                place: "group \(group) of the \(rows) rows",
                remedy: now == WorkerName.own || now == then
                    ? "the machine of \(now) computes wrongly, or that of \(then) did: test its memory, "
                        + "or start a new run with another --output"
                    : "one side computes wrongly, or has lied. If \(now) alone says so, resume without "
                        + "it; if the log names others that agree with it, or a third worker says the "
                        + "same, start a new run without \(then)",
                status: .badData)
        case .referencesOfOtherSteps(let path, let step, let microBatch, let workers, let folder):
            Explanation(
                what: "micro-batch \(microBatch) of step \(step) was computed with other "
                    + "log-probabilities under the reference model than those of now, by "
                    + workers.prefix(4).joined(separator: ", ")
                    + (workers.count > 4 ? " and \(workers.count - 4) more" : ""),
                place: path,
                remedy: "the version that began this run did not record who computed them. Resume "
                    + "with other workers"
                    + (folder.map { ", without the folder \($0)" } ?? "")
                    + "; if it comes again, those of then were wrong: start a new run with another "
                    + "--output",
                status: .badData)
        case .lossNotFinite(let step, let checkpoint):
            Self.notFinite("the loss of step \(step) is not finite", checkpoint)
        case .gradientNotFinite(let step, let tensor, let checkpoint):
            Self.notFinite("the gradient of \(tensor) at step \(step) is not finite", checkpoint)
        case .spoiled(let what, let times):
            Explanation(
                what:
                    "\(what) was computed \(times) times, each time with a wrong result",
                place: "the lines above name the workers that gave them",
                remedy:
                    "check or remove these machines, make a new token if others may have it, "
                    + "and continue with --resume",
                status: .badData)
        }
    }
}
