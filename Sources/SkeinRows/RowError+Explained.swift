import SkeinBasics
import SkeinJSON
import SkeinText

extension RowError: Explained {
    package var explanation: Explanation {
        switch self {
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
                what: "no row has \(JSONValue.quoted(column)), which --field names as \(field)",
                place: path, remedy: "check the name, or leave it out", status: .badData)
        case .missingColumn(let path, let field, let column, let columns):
            Explanation(
                what: "there is no column \(JSONValue.quoted(column)); the columns are "
                    + Self.several(columns.map { JSONValue.quoted($0) }),
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
                    + JSONValue.quoted(String(found.prefix(40)))
                    + ", which does not begin with an end-of-turn token",
                place: "\(path):\(line)",
                remedy: "use --prompt-format eos, or fix the template, so that the model learns "
                    + "where to stop",
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
        case .weight(let text, let path): "\"\(text)\" is not a weight for \(path)"
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
