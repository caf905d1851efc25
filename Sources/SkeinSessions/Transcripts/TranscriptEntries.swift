extension Transcript {
    /// What the developer tells the model before all prompts, and the tools that it may call.
    public struct Instructions: Sendable, Equatable, Identifiable, CustomStringConvertible {
        /// The identity of the entry.
        public var id: String
        /// The text.
        public var segments: [Segment]
        /// The tools that are presented to the model.
        public var toolDefinitions: [ToolDefinition]

        /// - Parameters:
        ///   - id: the identity of the entry.
        ///   - segments: the text.
        ///   - toolDefinitions: the tools that are presented to the model.
        public init(
            id: String = EntryID.unique(), segments: [Segment], toolDefinitions: [ToolDefinition]
        ) {
            self.id = id
            self.segments = segments
            self.toolDefinitions = toolDefinitions
        }

        /// One line: the text, then the names of the tools.
        public var description: String {
            let names = toolDefinitions.map { oneLine($0.name) }.joined(separator: ", ")
            return oneLine(segments) + (names.isEmpty ? "" : " [tools: \(names)]")
        }
    }

    /// What a person asks, with how it is to be answered.
    public struct Prompt: Sendable, Equatable, Identifiable, CustomStringConvertible {
        /// The identity of the entry.
        public var id: String
        /// The text.
        public var segments: [Segment]
        /// The options of the request.
        public var options: GenerationOptions
        /// The form that the answer must have; nil: any text.
        public var responseFormat: ResponseFormat?

        /// - Parameters:
        ///   - id: the identity of the entry.
        ///   - segments: the text.
        ///   - options: the options of the request.
        ///   - responseFormat: the form that the answer must have.
        public init(
            id: String = EntryID.unique(), segments: [Segment],
            options: GenerationOptions = GenerationOptions(),
            responseFormat: ResponseFormat? = nil
        ) {
            self.id = id
            self.segments = segments
            self.options = options
            self.responseFormat = responseFormat
        }

        /// The text on one line.
        public var description: String { oneLine(segments) }
    }

    /// The model's answer.
    public struct Response: Sendable, Equatable, Identifiable, CustomStringConvertible {
        /// The identity of the entry.
        public var id: String
        /// The names of the base model and the adapter that wrote it.
        public var assetIDs: [String]
        /// The answer.
        public var segments: [Segment]

        /// - Parameters:
        ///   - id: the identity of the entry.
        ///   - assetIDs: the names of the base model and the adapter that wrote it.
        ///   - segments: the answer.
        public init(id: String = EntryID.unique(), assetIDs: [String], segments: [Segment]) {
            self.id = id
            self.assetIDs = assetIDs
            self.segments = segments
        }

        /// The answer on one line.
        public var description: String { oneLine(segments) }
    }
}
