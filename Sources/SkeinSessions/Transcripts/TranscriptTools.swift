extension Transcript {
    /// Calls that the model made together; their outputs follow, one entry each.
    public struct ToolCalls: Sendable, Equatable, Identifiable, CustomStringConvertible {
        /// The identity of the entry.
        public var id: String
        private var calls: [ToolCall]

        /// - Parameters:
        ///   - id: the identity of the entry.
        ///   - calls: in the order in which the model wrote them.
        public init(id: String = EntryID.unique(), _ calls: some Sequence<ToolCall>) {
            self.id = id
            self.calls = Array(calls)
        }

        /// All calls on one line.
        public var description: String { calls.map(\.description).joined(separator: "; ") }
    }

    /// One call of a tool.
    public struct ToolCall: Sendable, Equatable, Identifiable, CustomStringConvertible {
        /// The identity of the call; its output has the same.
        public var id: String
        /// The name of the tool.
        public var toolName: String
        /// What the model gave it.
        public var arguments: GeneratedContent

        /// - Parameters:
        ///   - id: the identity of the call.
        ///   - toolName: the name of the tool.
        ///   - arguments: what the model gave it.
        public init(
            id: String = EntryID.unique(), toolName: String, arguments: GeneratedContent
        ) {
            self.id = id
            self.toolName = toolName
            self.arguments = arguments
        }

        /// The name and the arguments on one line.
        public var description: String { oneLine(toolName + " " + arguments.jsonString) }
    }

    /// What a called tool answered.
    public struct ToolOutput: Sendable, Equatable, Identifiable, CustomStringConvertible {
        /// The identity of the entry: that of the call which it answers.
        public var id: String
        /// The name of the tool.
        public var toolName: String
        /// The output.
        public var segments: [Segment]
        /// The call that it answers, where a stored transcript gave the entry another identity.
        package var callID: String?

        /// - Parameters:
        ///   - id: the identity of the call which it answers.
        ///   - toolName: the name of the tool.
        ///   - segments: the output.
        public init(id: String, toolName: String, segments: [Segment]) {
            self.init(id: id, callID: nil, toolName: toolName, segments: segments)
        }

        package init(id: String, callID: String?, toolName: String, segments: [Segment]) {
            self.id = id
            self.callID = callID == id ? nil : callID
            self.toolName = toolName
            self.segments = segments
        }

        /// The name of the tool and its output on one line.
        public var description: String { oneLine(toolName) + ": " + oneLine(segments) }
    }
}

extension Transcript.ToolCalls: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { calls.startIndex }

    /// The number of calls.
    public var endIndex: Int { calls.endIndex }

    /// A call by its place.
    ///
    /// - Parameter position: 0 ..< `count`.
    public subscript(position: Int) -> Transcript.ToolCall { calls[position] }
}
