import SkeinText

/// What can be wrong with data files, their rows, and the tokens that are made of them.
///
/// Cases carry facts; `RowError+Explained.swift` turns them into prose.
package enum RowError: Error, Equatable {
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
    /// Some parts of a data set are missing, or there are those of two.
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
}
