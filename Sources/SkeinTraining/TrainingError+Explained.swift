import SkeinBasics
import SkeinTables
import SkeinText

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

        // Data
        case .badLine(let path, let line, let problem):
            Explanation(
                what: problem.what, place: "\(path):\(line)",
                remedy: problem.remedy + ", or give --skip-bad-lines", status: .badData)
        case .dataFileTooLarge(let path, let bytes, let limit):
            Explanation(
                what: "the data file has \(bytes) bytes, more than \(limit)", place: path,
                remedy: "train on a part of it", status: .badData)
        case .tooManyRows(let path, let limit):
            Explanation(
                what: "the data file has more than \(limit) rows", place: path,
                remedy: "train on a part of it", status: .badData)
        case .noRows(let path, let badLines):
            Explanation(
                what: badLines == 0
                    ? "the data has no rows"
                    : "the data has no rows besides \(Figures.count(badLines, "bad line"))",
                place: path, remedy: Self.forms, status: .badData)
        case .noTrainingFile(let directory, let isModel):
            Explanation(
                what: isModel
                    ? "this folder has a model or an adapter, and no training rows"
                    : "the data directory has no training rows", place: directory,
                remedy: isModel
                    ? "give --data a file or folder with rows; a model goes to --model"
                    : "name the file train.jsonl (or train.json, .csv, .tsv, .parquet, .txt; parts "
                        + "train-00000-of-00002.parquet, also in data/; train/*.parquet), or give the "
                        + "path of a file",
                status: .badData)
        case .folderToEvaluate(let directory, let option, let files):
            Explanation(
                what: "this is a folder, and what is evaluated are the rows of files",
                place: directory,
                remedy: files.isEmpty
                    ? "give --\(option) a file in it"
                    : "give its held-out rows: --\(option) "
                        + ShellWords.quoted(files.joined(separator: ",")),
                status: .badData)
        case .savedDataset(let directory):
            Explanation(
                what:
                    "the folder holds Arrow files of datasets' save_to_disk, which Skein does not "
                    + "read", place: directory,
                remedy: "export it in Python: datasets.load_from_disk(FOLDER)[\"train\"]"
                    + ".to_parquet(\"train.parquet\"), without [\"train\"] if it has no parts",
                status: .badData)
        case .severalDataFiles(let directory, let names):
            Explanation(
                what:
                    "the data directory has \(names.joined(separator: " and ")), and nothing says "
                    + "which one is meant",
                place: directory,
                remedy: "remove all but one, or give the paths of files", status: .badData)
        case .badShards(let directory, let names):
            Explanation(
                what: "the parts of the data are not whole: there are "
                    + Self.several(names),
                place: directory,
                remedy: "fetch the missing ones, or name the files: --data A.parquet,B.parquet",
                status: .badData)
        case .badDataList(let option, let problem):
            Explanation(
                what: problem.what, place: "--\(option)", remedy: problem.remedy, status: .usage)
        case .unreadDataFile(let path, let kind, let remedy):
            Explanation(
                what: "rows cannot be read from a \(kind) file", place: path,
                remedy: remedy.text, status: .badData)
        case .badTable(let path, let problem):
            Explanation(
                what: problem.what, place: path, remedy: problem.remedy, status: .badData)
        case .unusedField(let path, let field, let form):
            Explanation(
                what: "--field names \(field), and rows of \(form.name) have none", place: path,
                remedy: "leave it out, or name the parts that the rows have", status: .badData)
        case .missingColumn(let path, let field, let column, []):
            Explanation(
                what: "no row has \(JSONLine.quote(column)), which --field names as \(field)",
                place: path, remedy: "check the name, or leave it out", status: .badData)
        case .missingColumn(let path, let field, let column, let columns):
            Explanation(
                what: "there is no column \(JSONLine.quote(column)); the columns are "
                    + Self.several(columns.map { JSONLine.quote($0) }),
                place: path, remedy: "name one of them: --field \(field)=COLUMN",
                status: .badData)
        case .noLossTokens(let path, let rows, let maximumLength):
            Explanation(
                what: "none of \(Figures.count(rows, "row")) has a token to learn within "
                    + Figures.count(maximumLength, "token"),
                place: path,
                remedy: "check that the rows have completions or assistant messages; if they do, "
                    + "raise --max-length above the length of the prompts",
                status: .badData)
        case .conversationWithoutTemplate(let path, let line):
            Explanation(
                what:
                    "a row of messages, or with a system or tools beside it, needs a chat template, "
                    + "and this run uses none",
                place: "\(path):\(line)",
                remedy: "use --prompt-format chat with a model that has a chat template, or write "
                    + "the rows as prompt and completion alone",
                status: .badData)
        case .otherLoss(let path, let line, let isPreference):
            Explanation(
                what: isPreference
                    ? "a row of chosen and rejected answers needs a loss that compares them"
                    : "the loss compares two answers, and this row has no chosen and rejected",
                place: "\(path):\(line)",
                remedy: isPreference
                    ? "train with --loss dpo, orpo or simpo"
                    : "write rows like {\"prompt\": \"...\", \"chosen\": \"...\", \"rejected\": \"...\"}, or "
                        + "leave out --loss (which --recipe preference sets, too)",
                status: .badData)
        case .answerInParts(let path, let line):
            Explanation(
                what: "the chat template rewrites earlier turns, so that one of the two answers is "
                    + "trained in several parts",
                place: "\(path):\(line)",
                remedy: "use --train-on last, or answers of one turn", status: .badData)
        case .badConversation(let path, let line, let problem):
            Explanation(
                what: problem.explanation.what,
                place: "\(path):\(line), in \(problem.explanation.place)",
                remedy: problem.explanation.remedy, status: .badData)
        case .lostAnswer(let path, let line):
            Explanation(
                what: "the chat template leaves out this row's answer, so nothing of it would be "
                    + "learned", place: "\(path):\(line)",
                remedy: "choose another template (--chat-template) or --prompt-format eos",
                status: .badData)
        case .badCalls(let path, let line, let problem):
            Explanation(
                what: "\(problem.path): \(problem.explanation.what)", place: "\(path):\(line)",
                remedy: problem.explanation.remedy, status: .badData)
        case .rewrittenTooLong(let path, let line, let limit):
            Explanation(
                what: "the chat template rewrites earlier turns of this conversation, and the "
                    + "texts that are trained instead have together more than \(limit)",
                place: "\(path):\(line)",
                remedy: "use --train-on last, or shorter rows",
                status: .badData)
        case .noTemplate:
            Explanation(
                what: "the model has no chat template", place: "--prompt-format chat",
                remedy: "use --prompt-format eos or raw, or an instruction-tuned model",
                status: .badData)
        case .noEndToken:
            Explanation(
                what: "the model names no end-of-text token, and a row must end with one",
                place: "tokenizer",
                remedy: "add eos_token to tokenizer_config.json, or use --prompt-format chat",
                status: .badData)
        case .noEndOfTurn(let found, let path, let line):
            Explanation(
                what: "after an assistant's content the chat template writes "
                    + JSONLine.quote(String(found.prefix(40)))
                    + ", which does not begin with an end-of-turn token",
                place: "\(path):\(line)",
                remedy: "use --prompt-format eos, or fix the template, so that the model learns "
                    + "where to stop",
                status: .badData)

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
                // It passes: whoever starts programs again may try again.
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
        case .ledgerRefuted(let path, let findings, let first):
            Explanation(
                what: "\(first.isOfMetrics ? "the metrics have" : "the ledger has") "
                    + "\(Figures.count(findings, "finding")), the first: \(first.what)",
                place: path,
                remedy: "do not trust this adapter; train again", status: .badData)
        case .adapterLost(let path, let step):
            Explanation(
                what:
                    "the adapter of step \(step), the best so far, is missing, and no checkpoint "
                    + "has it",
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
                    "check or remove these machines, make a new token if somebody else may have it, "
                    + "and continue with --resume",
                status: .badData)
        }
    }

    /// A list that may be long, for people.
    private static func several(_ names: [String]) -> String {
        let shown = names.prefix(12).joined(separator: ", ")
        return names.count > 12 ? "\(shown) and \(names.count - 12) more" : shown
    }

    static let forms =
        "write lines like {\"prompt\": \"...\", \"completion\": \"...\"}, "
        + "{\"messages\": [{\"role\": \"user\", \"content\": \"...\"}, ...]} or {\"text\": \"...\"}, or "
        + "name the keys: --field prompt=NAME,completion=NAME"
}

extension DataListProblem {
    var what: String {
        switch self {
        case .empty: "a name is missing before or between commas"
        case .tooMany(let found, let limit): "\(found) files are named, more than \(limit)"
        case .weight(let text, let path): "\"\(text)\" is no weight for \(path)"
        case .folder(let path): "\(path) is a folder, and a list names files"
        case .repeated(let path): "\(path) is named twice"
        case .weightOfHeldOut: "rows that are evaluated have no weight"
        }
    }

    var remedy: String {
        switch self {
        case .empty: "write A.jsonl,B.jsonl, without a comma too many"
        case .tooMany: "join files"
        case .weight:
            "give a number above 0, at most \(Int(WeightedFile.mostWeight)): 2 trains each row twice "
                + "an epoch, 0.5 half of the rows"
        case .folder: "name the files in it"
        case .repeated(let path): "name it once, with a weight: \(path):2"
        case .weightOfHeldOut: "give the files without weights"
        }
    }
}

extension DataFileRemedy {
    fileprivate var text: String {
        switch self {
        case .unpack(let tool): "unpack it with \(tool), and give the file that was in it"
        case .convert: "convert it to .parquet, .csv or .jsonl"
        }
    }
}
