import SkeinBasics

extension TemplateError: Explained {
    package var explanation: Explanation {
        switch self {
        case .syntax(let fault, let line, let template):
            Explanation(
                what: "the chat template is malformed: \(fault.prose)",
                place: "\(template), line \(line)",
                remedy: "fetch the model's template again, or \(Self.wayOut)",
                status: .badData)
        case .unsupported(let construct, let line, let template):
            Explanation(
                what: "the chat template uses \(construct), which is not supported",
                place: "\(template), line \(line)",
                remedy: Self.wayOut, status: .badData)
        case .raised(let message, let line, let template):
            Explanation(
                what: "the chat template refuses this conversation: \(message)",
                place: "\(template), line \(line)",
                remedy: "change the conversation's roles as it says, or \(Self.wayOut)",
                status: .badData)
        case .undefined(let hint, let line, let template):
            Explanation(
                what: "the chat template uses an undefined value: \(hint)",
                place: "\(template), line \(line)",
                remedy: "check that the conversation has the turns that this model expects, or "
                    + Self.wayOut,
                status: .badData)
        case .evaluation(let fault, let line, let template):
            Explanation(
                what: "the chat template failed: \(fault.prose)",
                place: "\(template), line \(line)",
                remedy: "check that the conversation has the turns that this model expects, or "
                    + Self.wayOut,
                status: .badData)
        case .limit(let limit, let line, let template):
            Explanation(
                what: "the chat template exceeds \(limit.prose)",
                place: "\(template), line \(line)",
                remedy: "no template of a real model needs that much: check where this one comes "
                    + "from, or \(Self.wayOut)",
                status: .badData)
        }
    }

    private static let wayOut =
        "use another one with --chat-template NAME|FILE, or none with --prompt-format eos|raw"
}

extension TemplateError.SyntaxFault {
    fileprivate var prose: String {
        switch self {
        case .unterminatedComment: "a comment {# has no end"
        case .unterminatedTag: "a tag {% or {{ has no end"
        case .unterminatedString: "a string has no closing quote"
        case .unclosedBlock(let tag): "the block {% \(tag) %} has no end"
        case .unexpectedTag(let tag): "{% \(tag) %} has no open block"
        case .unexpectedCharacter(let character): "unexpected character \"\(character)\""
        case .unexpectedToken(let found, let expected): "found \(found), expected \(expected)"
        case .unbalancedBracket(let bracket): "\"\(bracket)\" has no opening bracket"
        case .invalidEscape(let escape): "\"\(escape)\" is not a valid escape in a string"
        case .integerTooLarge(let digits): "the number \(digits) is too large"
        case .cannotAssign(let target): "cannot assign to \(target)"
        case .chainedTests: "tests with \"is\" cannot be chained"
        }
    }
}

extension TemplateError.EvaluationFault {
    fileprivate var prose: String {
        switch self {
        case .operands(let symbol, let left, let right):
            "\"\(symbol)\" does not work between \(left) and \(right)"
        case .operand(let function, let type): "\(function) does not work on \(type)"
        case .arguments(let function): "\(function) was called with the wrong arguments"
        case .repeatedArgument(let name): "the argument \"\(name)\" was given twice"
        case .divisionByZero: "division by zero"
        case .integerOverflow: "a number became too large"
        case .emptySeparator: "split() with an empty separator"
        case .zeroSliceStep: "a slice with step zero"
        case .unpacking(let expected, let found):
            "cannot unpack \(found) values into \(expected) names"
        case .notNamespace(let name, let type):
            "cannot set an attribute of \"\(name)\": it is \(type), not a namespace"
        case .notCallable(let name): "\"\(name)\" is not a function"
        case .notSerializable(let type): "tojson does not work on \(type)"
        }
    }
}

extension TemplateError.Limit {
    fileprivate var prose: String {
        switch self {
        case .sourceBytes(let limit): "the limit of \(limit) bytes of source"
        case .nesting(let limit): "the limit of \(limit) nested blocks and expressions"
        case .calls(let limit): "the limit of \(limit) nested statements around a call"
        case .steps(let limit): "the limit of \(limit) steps"
        case .textBytes(let limit): "the limit of \(limit) bytes of text"
        case .items(let limit): "the limit of \(limit) items in a list"
        case .valueDepth(let limit): "the limit of \(limit) nested lists"
        }
    }
}
