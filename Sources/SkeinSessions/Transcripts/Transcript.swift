/// What was said in a session, entry by entry: instructions, prompts, tool calls, their outputs,
/// answers.
///
/// A session shows its own; a stored one begins a session that goes on where the other ended:
///
/// ```swift
/// let data = try JSONEncoder().encode(session.transcript)
/// let transcript = try JSONDecoder().decode(Transcript.self, from: data)
/// let again = LanguageModelSession(transcript: transcript)
/// ```
public struct Transcript: Sendable, Equatable {
    private var list: [Entry]

    /// A transcript of prepared entries. They are checked when a session is made from it, or when
    /// it is read again.
    ///
    /// - Parameter entries: from the oldest to the newest.
    public init(entries: some Sequence<Entry> = []) {
        list = Array(entries)
    }

    /// All entries, from the oldest to the newest.
    @available(*, deprecated, message: "a transcript is a collection of its entries itself")
    public var entries: [Entry] { list }

    /// Adds an entry at the end.
    package mutating func append(_ entry: Entry) { list.append(entry) }

    /// Adds entries at the end.
    package mutating func append(contentsOf entries: some Sequence<Entry>) {
        list.append(contentsOf: entries)
    }

    /// The same history with other tools: those that a session has now, not those that it had when
    /// the transcript was stored. Instructions are added if there are tools to list and no
    /// instructions. A tool that is not in instructions by itself stays where the transcript lists it.
    package func presenting(_ tools: [any Tool]) -> Transcript {
        var listed: Set<String> = []
        if case .instructions(let instructions) = list.first {
            listed = Set(instructions.toolDefinitions.map(\.name))
        }
        let definitions = tools.filter {
            $0.includesSchemaInInstructions || listed.contains($0.name)
        }.map { ToolDefinition(tool: $0) }
        var transcript = self
        if case .instructions(var instructions) = list.first {
            instructions.toolDefinitions = definitions
            transcript.list[0] = .instructions(instructions)
        } else if !definitions.isEmpty {
            let instructions = Instructions(segments: [], toolDefinitions: definitions)
            transcript.list.insert(.instructions(instructions), at: 0)
        }
        return transcript
    }

    /// Drops the entries from `count` on: what a request that failed had added.
    package mutating func cut(to count: Int) {
        list.removeSubrange(Swift.min(count, list.count)...)
    }
}

extension Transcript: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { list.startIndex }

    /// The number of entries.
    public var endIndex: Int { list.endIndex }

    /// An entry by its place, from the oldest one at 0.
    ///
    /// - Parameter position: 0 ..< `count`.
    public subscript(position: Int) -> Entry { list[position] }
}

extension Transcript: CustomStringConvertible {
    /// One line for each entry, with its kind in parentheses: `(Prompt) Write a haiku`.
    public var description: String { list.map(\.description).joined(separator: "\n") }
}

extension Transcript {
    /// One step of a session.
    public enum Entry: Sendable, Equatable, Identifiable {
        /// What the developer tells the model, with the tools. The first entry, if there is one.
        case instructions(Instructions)
        /// What a person asks.
        case prompt(Prompt)
        /// Calls that the model made together.
        case toolCalls(ToolCalls)
        /// What one of the called tools answered.
        case toolOutput(ToolOutput)
        /// The model's answer.
        case response(Response)

        /// The identity of the entry within its transcript.
        public var id: String {
            switch self {
            case .instructions(let entry): entry.id
            case .prompt(let entry): entry.id
            case .toolCalls(let entry): entry.id
            case .toolOutput(let entry): entry.id
            case .response(let entry): entry.id
            }
        }
    }
}

extension Transcript.Entry: CustomStringConvertible {
    /// One line, the kind in parentheses first.
    public var description: String {
        switch self {
        case .instructions(let entry): "(Instructions) " + entry.description
        case .prompt(let entry): "(Prompt) " + entry.description
        case .toolCalls(let entry): "(Tool calls) " + entry.description
        case .toolOutput(let entry): "(Tool output) " + entry.description
        case .response(let entry): "(Response) " + entry.description
        }
    }
}

/// One line of a text: what would break it is written as an escape.
func oneLine(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n": line.append(contentsOf: #"\n"#.unicodeScalars)
        case "\r": line.append(contentsOf: #"\r"#.unicodeScalars)
        case "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}": line.append(" ")
        default: line.append(scalar)
        }
    }
    return String(line)
}

/// One line of segments.
func oneLine(_ segments: [Transcript.Segment]) -> String {
    segments.map { oneLine($0.description) }.joined(separator: " ")
}
