import Foundation
import SkeinBasics

/// Why a session cannot present a tool, or call it.
public enum ToolError: Error, Equatable, Sendable {
    /// Two tools with one name.
    case duplicateName(String)
    /// A name that is empty.
    case emptyName
    /// A name of too many characters.
    case longName(String, characters: Int, limit: Int)
    /// A name with a character that a name cannot have, or with a space at an end.
    case badName(String)
    /// `parameters` is not the schema of an object.
    case parametersNotObject(tool: String)
    /// `parameters` cannot be used.
    case badSchema(tool: String, reason: String)
    /// What the model wrote is no value of `Arguments`.
    case badArguments(tool: String, reason: String)

    /// Characters of a name: what chat templates and other systems take.
    static let nameLength = 64

    static func check(name: String) throws(ToolError) {
        guard !name.isEmpty else { throw .emptyName }
        guard name.count <= nameLength else {
            throw .longName(name, characters: name.count, limit: nameLength)
        }
        // The name stands in the text that the model reads and writes, on one line and in quotes.
        let isClean = name.unicodeScalars.allSatisfy {
            $0.isVisible && $0 != "\"" && $0 != "\\"
        }
        guard isClean, name.first != " ", name.last != " " else { throw .badName(name) }
    }
}

extension ToolError: Explained {
    package var explanation: Explanation {
        let (what, place, remedy) = words
        return Explanation(
            what: what, place: place.map { "tool \(inQuotes($0))" } ?? "tools", remedy: remedy,
            status: .usage)
    }

    private var words: (what: String, place: String?, remedy: String) {
        switch self {
        case .duplicateName(let name):
            ("two tools have this name", name, "give each tool a name of its own")
        case .emptyName: ("a tool has no name", nil, "give it one")
        case .longName(let name, let characters, let limit):
            (
                "the name has \(characters) characters, and the limit is \(limit)", name,
                "give it a shorter one"
            )
        case .badName(let name):
            (
                "the name has a space at an end, or a character that a name cannot have", name,
                "use letters, digits, underscores and single spaces"
            )
        case .parametersNotObject(let name):
            (
                "parameters is not the schema of an object", name,
                "make Arguments a @Generable struct"
            )
        case .badSchema(let name, let reason):
            ("parameters cannot be used: \(reason)", name, "correct the schema")
        case .badArguments(let name, let reason):
            (
                "the arguments cannot be read: \(reason)", name,
                "check that parameters and Arguments describe the same"
            )
        }
    }
}

extension ToolError: LocalizedError {
    /// What happened, and to which tool.
    public var errorDescription: String? { explanation.sentence }
    /// What to do about it.
    public var recoverySuggestion: String? { explanation.remedy }
}
