import Foundation
import SkeinBasics
import SkeinJSON

extension GeneratedContentError: Explained {
    package var explanation: Explanation {
        let (what, place, remedy) = words
        return Explanation(what: what, place: place, remedy: remedy, status: .badData)
    }

    private var words: (what: String, place: String, remedy: String) {
        switch self {
        case .malformedJSON(let offset):
            ("the text is not JSON", "byte \(offset)", "correct the text")
        case .malformedText(let offset):
            (
                "a string is not UTF-8, or has half of a surrogate pair", "byte \(offset)",
                "correct the text"
            )
        case .tooLong(let limit):
            ("the text has more than \(limit) bytes", "", "use a shorter one")
        case .tooDeep(let limit):
            ("the text is nested more than \(limit) deep", "", "use a flatter type")
        case .wrongKind(let path, let expected, let found):
            (
                "\(expected) was expected, and there is \(found)", path,
                "ask for the value with a type that fits the schema"
            )
        case .missingProperty(let path):
            (
                "the property is missing", path,
                "make it optional, or ask for a complete value with a schema that requires it"
            )
        case .numberDoesNotFit(let path, let number, let type):
            (
                "\(Self.cut(number)) is no value of \(type)", path,
                "guide the property to numbers that fit, or use a larger type"
            )
        case .unknownCase(let path, let type, let found):
            (
                "\(type) has no case \(JSONValue.quoted(Self.cut(found)))", path,
                "use the schema of this version of the type"
            )
        }
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count <= 100 ? text : text.prefix(100) + "..."
    }
}

extension GeneratedContentError: LocalizedError {
    /// What is wrong, and where.
    public var errorDescription: String? { explanation.sentence }

    /// What is wrong.
    public var failureReason: String? { explanation.what }

    /// How to mend it.
    public var recoverySuggestion: String? { explanation.remedy }
}
