/// What people think of an answer. `LanguageModelSession.logFeedbackAttachment` makes a line of a
/// report from it.
public enum LanguageModelFeedback {
    /// Whether an answer was liked.
    public enum Sentiment: String, Sendable, Hashable, CaseIterable {
        /// It was.
        case positive
        /// It was not.
        case negative
        /// Neither.
        case neutral
    }

    /// Something that was wrong with an answer.
    public struct Issue: Sendable, Hashable {
        /// What kind of thing.
        public let category: Category
        /// In the person's own words.
        public let explanation: String?

        /// - Parameters:
        ///   - category: what kind of thing was wrong.
        ///   - explanation: in the person's own words.
        public init(category: Category, explanation: String? = nil) {
            self.category = category
            self.explanation = explanation
        }

        /// What can be wrong with an answer.
        public enum Category: String, Sendable, Hashable, CaseIterable {
            /// It does not help.
            case unhelpful
            /// It is too long.
            case tooVerbose
            /// It does something else than what the instructions or the prompt say.
            case didNotFollowInstructions
            /// It is not true.
            case incorrect
            /// It generalises about groups of people.
            case stereotypeOrBias
            /// It is sexual.
            case suggestiveOrSexual
            /// It is rude.
            case vulgarOrOffensive
            /// A safety check stopped what was harmless.
            case triggeredGuardrailUnexpectedly
        }
    }
}
