import SkeinBasics
import SkeinJSON
import SkeinText

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
                    + ", but none of prompt, messages, conversations, instruction, text and chosen"
        case .missing(let field, _, _): "\"\(field)\" is missing"
        case .wrongType(let field, let expected, let found):
            "\"\(field)\" is \(found), not \(expected)"
        case .messageCount(let found, let limit):
            found == 0 ? "there are no messages" : "there are \(found) messages, more than \(limit)"
        case .unsupported(let field):
            "\"\(field)\" would change what is learned, and Skein does not support it yet"
        case .otherForm(let found, let first, let line):
            "the row has \(found.name), and the first one, at \(line), has \(first.name)"
        case .olderCall(let field):
            "\"\(field)\" is OpenAI's older form of calls, which chat templates do not read"
        case .noCommonPrompt:
            "the chosen answer and the rejected one do not begin with the same question"
        case .equalAnswers: "the chosen answer and the rejected one are the same"
        case .tooDeep(let field, let limit):
            "\"\(field)\" has more than \(limit) nested lists and objects"
        case .badCalls(let problem): "\(problem.path): \(problem.explanation.what)"
        case .twoSystems(let field):
            "\"\(field)\" differs from the system with which the messages begin"
        case .booleanLabel:
            "a \"label\" that is true or false stands beside an answer: with false it "
                + "marks an answer that should not be learned (KTO), which no --loss reads yet"
        case .cells(let what, _): what
        }
    }

    var remedy: String {
        switch self {
        case .tooLong: "split the row"
        case .notUTF8: "convert the file to UTF-8 (iconv -f latin1 -t utf-8)"
        case .notJSON, .notAnObject: "write one JSON object on each line"
        case .unknownForm(let fields) where fields.count == 1 && fields[0].contains(";"):
            "separate the cells by commas (in a .tsv file by tabs) instead of semicolons"
        case .unknownForm: RowError.forms
        case .missing(let field, nil, _): "add \"\(field)\""
        case .missing(let field, let part?, let others):
            "add \"\(field)\", or name the key that holds it: --field \(part)=KEY; the row has "
                + others.map { JSONValue.quoted($0) }.joined(separator: ", ")
        case .wrongType(_, let expected, _): "make it \(expected)"
        case .messageCount: "give 1 to \(Limits.turns) messages"
        case .unsupported(let field): "remove \"\(field)\" or the row"
        case .otherForm:
            "put rows of each form into a file of their own and name all: --data A.jsonl,B.jsonl"
        case .olderCall:
            "write calls as \"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": ..., "
                + "\"arguments\": ...}}], their results as messages of the role tool, and \"functions\" as "
                + "\"tools\": [{\"type\": \"function\", \"function\": ...}]"
        case .noCommonPrompt: "give the question as \"prompt\", a list of messages"
        case .equalAnswers: "remove the row"
        case .tooDeep: "use fewer levels"
        case .badCalls(let problem): problem.explanation.remedy
        case .twoSystems(let field): "remove \"\(field)\" or the message"
        case .booleanLabel:
            "keep the rows whose label is true, without the label; or rename the key if it means "
                + "something else"
        case .cells(_, let remedy): remedy
        }
    }
}
