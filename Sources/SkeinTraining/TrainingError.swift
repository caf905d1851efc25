import SkeinTables
import SkeinText

/// What can be wrong with the data, options, run directory and records of a training run.
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

    // Data
    /// Line `line` (from 1) of a data file cannot be used.
    case badLine(path: String, line: Int, problem: LineProblem)
    case dataFileTooLarge(path: String, bytes: Int, limit: Int)
    case tooManyRows(path: String, limit: Int)
    /// No row is left; `badLines` were skipped.
    case noRows(path: String, badLines: Int)
    /// A data directory without `train.jsonl` or another file of training rows.
    /// `isModel`: it has what belongs to a model or an adapter.
    case noTrainingFile(directory: String, isModel: Bool = false)
    /// A folder where rows are to be evaluated, and the files in it that are held out.
    case folderToEvaluate(directory: String, option: String, files: [String])
    /// A data directory in which several files could be meant.
    case severalDataFiles(directory: String, names: [String])
    /// A folder that `save_to_disk` of Python's `datasets` wrote.
    case savedDataset(directory: String)
    /// Of the parts of a data set, some are missing, or there are those of two.
    case badShards(directory: String, names: [String])
    /// `--option` names several files in a way that cannot be followed.
    case badDataList(option: String, problem: DataListProblem)
    /// A data file that must be made another one first.
    case unreadDataFile(path: String, kind: String, remedy: DataFileRemedy)
    /// A table that cannot be read on.
    case badTable(path: String, problem: TableProblem)
    /// `--field` names a part that rows of the file's form do not have.
    case unusedField(path: String, field: String, form: RowForm)
    /// `--field` names a column that a table does not have, or a key that no row has (`columns` is empty).
    case missingColumn(path: String, field: String, column: String, columns: [String])
    /// None of the `rows` rows has a token that carries loss after the cut at `maximumLength`.
    case noLossTokens(path: String, rows: Int, maximumLength: Int)
    /// A `messages` row, but the prompt format in use has no chat template.
    case conversationWithoutTemplate(path: String, line: Int)
    /// Rows of pairs of answers, and `--loss` of single ones; or the other way round.
    case otherLoss(path: String, line: Int, isPreference: Bool)
    /// An answer of a preference row that the template cuts into several sequences.
    case answerInParts(path: String, line: Int)
    /// The chat template cannot render a row.
    case badConversation(path: String, line: Int, problem: TemplateError)
    /// The chat template leaves out the answer of a pair.
    case lostAnswer(path: String, line: Int)
    /// The calls of a conversation cannot be given to the chat template.
    case badCalls(path: String, line: Int, problem: ToolProblem)
    /// The template rewrites earlier turns of a conversation, and the sequences into which it is cut
    /// have together more than `limit`, in words.
    case rewrittenTooLong(path: String, line: Int, limit: String)
    /// `--prompt-format chat`, but the model has no chat template.
    case noTemplate
    /// The prompt format ends a row with the end-of-text token, and the model names none.
    case noEndToken
    /// After an assistant's content the template writes `found`, which does not start with one of
    /// the model's end-of-turn tokens.
    case noEndOfTurn(found: String, path: String, line: Int)

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

/// Why a line of a data file cannot be used.
package enum LineProblem: Error, Equatable, Sendable {
    case tooLong(bytes: Int, limit: Int)
    case notUTF8
    /// Not JSON; `detail` is the parser's own message.
    case notJSON(detail: String)
    /// JSON, but not an object.
    case notAnObject(found: String)
    /// An object in none of the forms.
    case unknownForm(fields: [String])
    /// The form needs `field`; `others` are keys of the row that no form has.
    case missing(field: String, part: String? = nil, others: [String] = [])
    /// `field` is not of the type `expected`.
    case wrongType(field: String, expected: String, found: String)
    /// `messages` is empty or longer than the limit.
    case messageCount(found: Int, limit: Int)
    /// A field that would change what is trained, and that Skein does not support.
    case unsupported(field: String)
    /// The row is written otherwise than the file's first one, of line `line`.
    case otherForm(found: RowForm, first: RowForm, line: Int)
    /// OpenAI's older way to write calls: `function_call`, `functions`.
    case olderCall(field: String)
    /// Two answers that are conversations, and that do not begin with the same question.
    case noCommonPrompt
    /// A preference row whose two answers are the same.
    case equalAnswers
    /// A field that a template may see holds lists and objects in each other, more than `limit`.
    case tooDeep(field: String, limit: Int)
    /// Calls of a message that no template can write.
    case badCalls(problem: ToolProblem)
    /// A system stands beside turns that begin with another one.
    case twoSystems(field: String)
    /// An answer with a label that is true or false: it may be a bad one.
    case booleanLabel
    /// A row of a table whose cells cannot be read.
    case cells(what: String, remedy: String)
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
