/// Why a transcript cannot be read, or cannot begin a session.
public enum TranscriptError: Error, Equatable, Sendable {
    /// The coded text is no JSON; `offset` counts bytes from 0.
    case malformed(offset: Int)
    /// The coded text is nested too deeply.
    case tooDeep(limit: Int)
    /// The coded text has more bytes than allowed.
    case tooLarge(bytes: Int, limit: Int)
    /// There are more entries than allowed.
    case tooManyEntries(found: Int, limit: Int)
    /// The coded value is no transcript.
    case unknownType(found: String, expected: String)
    /// The coded value is of another version than this library reads.
    case newerVersion(found: String, supported: Int)
    /// A key without a meaning at that place: `transcript.entries[3].options`.
    case unknownKey(name: String, place: String)
    /// A key that must be there.
    case missingKey(name: String, place: String)
    /// A value that is not what belongs there.
    case wrongValue(place: String, expected: String)
    /// Two entries, or two tool calls, with one identity.
    case duplicateID(id: String, entry: Int)
    /// Instructions that are not the first entry.
    case instructionsNotFirst(entry: Int)
    /// An output of a tool that was not called just before.
    case outputWithoutCall(toolName: String, entry: Int)
    /// A tool call whose output is not there.
    case openToolCall(toolName: String, entry: Int)
    /// What must stay in a transcript takes more than the budget.
    case doesNotFit(needed: Int, budget: Int)
}
