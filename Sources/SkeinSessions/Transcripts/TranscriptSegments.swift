extension Transcript {
    /// A piece of an entry.
    public enum Segment: Sendable, Equatable, Identifiable, CustomStringConvertible {
        /// Plain text.
        case text(TextSegment)
        /// Content with a structure.
        case structure(StructuredSegment)

        /// The identity of the segment.
        public var id: String {
            switch self {
            case .text(let segment): segment.id
            case .structure(let segment): segment.id
            }
        }

        /// The text, or the content as JSON.
        public var description: String {
            switch self {
            case .text(let segment): segment.description
            case .structure(let segment): segment.description
            }
        }
    }

    /// Plain text of an entry.
    public struct TextSegment: Sendable, Equatable, Identifiable, CustomStringConvertible {
        /// The identity of the segment.
        public var id: String
        /// The text.
        public var content: String

        /// - Parameters:
        ///   - id: the identity of the segment.
        ///   - content: the text.
        public init(id: String = EntryID.unique(), content: String) {
            self.id = id
            self.content = content
        }

        /// The text.
        public var description: String { content }
    }

    /// Content with a structure: of a guided answer, of a tool's output.
    public struct StructuredSegment: Sendable, Equatable, Identifiable, CustomStringConvertible {
        /// The identity of the segment.
        public var id: String
        /// The name of the content's type.
        public var source: String
        /// The content.
        public var content: GeneratedContent

        /// - Parameters:
        ///   - id: the identity of the segment.
        ///   - source: the name of the content's type.
        ///   - content: the content.
        public init(
            id: String = EntryID.unique(), source: String, content: GeneratedContent
        ) {
            self.id = id
            self.source = source
            self.content = content
        }

        /// The content as JSON.
        public var description: String { content.jsonString }
    }
}

extension [Transcript.Segment] {
    /// What a model reads of the segments: texts and JSON, each on a line of its own.
    package var text: String { map(\.description).joined(separator: "\n") }
}
