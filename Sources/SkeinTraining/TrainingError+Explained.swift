import SkeinBasics

extension TrainingError: Explained {
    package var explanation: Explanation {
        switch self {
        case .badOption, .unknownOption, .layersOutOfRange:
            optionExplanation
        case .badLine, .dataFileTooLarge, .tooManyRows, .noRows, .noTrainingFile, .noLossTokens,
            .conversationWithoutTemplate, .noTemplate, .noEndToken, .noEndOfTurn:
            dataExplanation
        case .outputNotEmpty, .outputInUse, .notARunDirectory, .resumeDiffers, .damagedRecord,
            .damagedCheckpoint, .ledgerRefuted, .adapterLost, .lossNotFinite, .gradientNotFinite,
            .spoiled:
            runExplanation
        }
    }

    private var optionExplanation: Explanation {
        switch self {
        case .badOption(let flag, let value, let allowed):
            Explanation(
                what: "\"\(value)\" is not allowed for --\(flag)", place: "--\(flag)",
                remedy: "give \(allowed)", status: .usage)
        case .unknownOption(let name):
            Explanation(
                what: "there is no option \"\(name)\"", place: "--\(name)",
                remedy: "`skein train --help` lists all options", status: .usage)
        case .layersOutOfRange(let layers, let layerCount):
            Explanation(
                what: "the model has \(layerCount) layers, 0 to \(layerCount - 1)",
                place: "--layers \(layers)",
                remedy: "give all, a number up to \(layerCount) for the last ones, or a range",
                status: .usage)
        default: Self.unexplained
        }
    }

    private var dataExplanation: Explanation {
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
                    ? "there is no row in the data"
                    : "there is no row in the data besides \(badLines) bad lines",
                place: path, remedy: Self.forms, status: .badData)
        case .noTrainingFile(let directory):
            Explanation(
                what: "the data directory has no train.jsonl", place: directory,
                remedy: "name the file train.jsonl, or give the path of a .jsonl file",
                status: .badData)
        case .noLossTokens(let path, let rows, let maximumLength):
            Explanation(
                what: "none of the \(rows) rows keeps a token to learn within "
                    + "\(maximumLength) tokens",
                place: path,
                remedy: "raise --max-length above the length of the prompts, or check that the "
                    + "rows have completions or assistant messages",
                status: .badData)
        case .conversationWithoutTemplate(let path, let line):
            Explanation(
                what: "a row of messages needs a chat template, and this run uses none",
                place: "\(path):\(line)",
                remedy: "use --prompt-format chat with a model that has a chat template, or write "
                    + "the rows as prompt and completion",
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
        case .noEndOfTurn(let found):
            Explanation(
                what: "after an assistant's content the chat template writes "
                    + JSONLine.quote(String(found.prefix(40)))
                    + ", which does not begin with an end-of-turn token",
                place: "chat template",
                remedy: "use --prompt-format eos, or mend the template, so that the model learns "
                    + "where to stop",
                status: .badData)
        default: Self.unexplained
        }
    }

    static let forms =
        "write lines like {\"prompt\": \"...\", \"completion\": \"...\"}, "
        + "{\"messages\": [{\"role\": \"user\", \"content\": \"...\"}, ...]} or {\"text\": \"...\"}"

    /// Reached only when a case is listed in the wrong group above: our bug, not the user's.
    static let unexplained = Explanation(what: "an unexplained error", status: .internalError)
}

extension LineProblem {
    var what: String {
        switch self {
        case .tooLong(let bytes, let limit): "the line has \(bytes) bytes, more than \(limit)"
        case .notUTF8: "the line is not UTF-8"
        case .notJSON(let detail): "the line is not JSON (\(detail))"
        case .notAnObject(let found): "the line is \(found), not an object"
        case .unknownForm(let fields):
            fields.isEmpty
                ? "the object is empty"
                : "the object has " + fields.map { "\"\($0)\"" }.joined(separator: ", ")
                    + ", but none of prompt, messages and text"
        case .missing(let field): "\"\(field)\" is missing"
        case .wrongType(let field, let expected, let found):
            "\"\(field)\" is \(found), not \(expected)"
        case .messageCount(let found, let limit):
            found == 0 ? "\"messages\" is empty" : "\"messages\" has \(found), more than \(limit)"
        case .unsupported(let field):
            "\"\(field)\" would change what is learned, and Skein cannot follow it yet"
        }
    }

    var remedy: String {
        switch self {
        case .tooLong: "split the row"
        case .notUTF8: "convert the file to UTF-8 (iconv -f latin1 -t utf-8)"
        case .notJSON, .notAnObject: "write one JSON object on each line"
        case .unknownForm: TrainingError.forms
        case .missing(let field): "add \"\(field)\""
        case .wrongType(_, let expected, _): "make it \(expected)"
        case .messageCount: "give 1 to \(Limits.turns) messages"
        case .unsupported(let field): "remove \"\(field)\" or the row"
        }
    }
}
