import Foundation
import SkeinBasics

extension TranscriptError: Explained {
    package var explanation: Explanation {
        let (what, place, remedy) = words
        return Explanation(
            what: what, place: place.isEmpty ? "transcript" : place, remedy: remedy,
            status: .badData)
    }

    private var words: (what: String, place: String, remedy: String) {
        switch self {
        case .malformed(let offset):
            ("this is not JSON", "byte \(offset)", "restore the stored transcript from a copy")
        case .tooDeep(let limit):
            ("JSON is nested more than \(limit) deep", "", "give content with a flatter structure")
        case .tooLarge(let bytes, let limit):
            ("\(bytes) bytes, and the limit is \(limit)", "", "store a trimmed transcript")
        case .tooManyEntries(let found, let limit):
            ("\(found) entries, and the limit is \(limit)", "", "store a trimmed transcript")
        case .unknownType(let found, let expected):
            (
                "the type is \(inQuotes(found)), and \(inQuotes(expected)) is needed", "type",
                "give what a Transcript was encoded to"
            )
        case .newerVersion(let found, let supported):
            (
                "the version is \(found), and this library reads \(supported)", "version",
                "read it with a newer release, or store it again with this one"
            )
        case .unknownKey(let name, let place):
            (
                "the key \(inQuotes(name)) is unknown", place,
                "remove it, or read the transcript with a newer release"
            )
        case .missingKey(let name, let place):
            ("the key \(inQuotes(name)) is missing", place, "add it")
        case .wrongValue(let place, let expected):
            ("the value is not \(expected)", place, "correct it")
        case .duplicateID(let id, let entry):
            (
                "the identity \(inQuotes(id)) is used twice", Self.place(entry),
                "give each entry and each tool call its own"
            )
        case .instructionsNotFirst(let entry):
            (
                "instructions may only be the first entry", Self.place(entry),
                "join them with those at the beginning, or begin a new transcript"
            )
        case .outputWithoutCall(let name, let entry):
            (
                "an output of the tool \(inQuotes(name)) that was not called just before",
                Self.place(entry), "put it directly behind its call, with the call's id"
            )
        case .openToolCall(let name, let entry):
            (
                "a call of the tool \(inQuotes(name)) has no output", Self.place(entry),
                "add the output behind it, or remove the call"
            )
        case .doesNotFit(let needed, let budget):
            (
                "what must stay takes \(needed), and the budget is \(budget)", "",
                "keep fewer turns, shorten the instructions, or allow more"
            )
        }
    }

    private static func place(_ entry: Int) -> String { "transcript.entries[\(entry)]" }
}

extension TranscriptError: LocalizedError {
    /// What happened, and where.
    public var errorDescription: String? { explanation.sentence }
    /// What to do about it.
    public var recoverySuggestion: String? { explanation.remedy }
}
