/// How a template treats tools and calls, whatever is known of its way to write them.
package struct TemplateHabits: Sendable, Equatable {
    package var showsTools = false
    package var writesCalls = false
    /// Whether it writes both of a turn that has words and calls.
    package var writesCallsBesideWords = false
    /// Whether it writes the content of a result without a call before it.
    package var writesResults = false
    /// Whether it has variables of these names, whatever it does with them.
    package var readsTools = false
    package var readsCalls = false
    /// Whether it wants the arguments of calls as JSON text, as DeepSeek R1's does.
    package var argumentsAsText = false
    package var callContent = CallContent.asGiven

    /// What stands as the content of a turn that has calls alone. Among 142 published templates 29
    /// write "None" or fail when it is null, and four leave out the calls unless it is.
    package enum CallContent: Sendable, Equatable {
        /// Null and the empty text are both fine.
        case asGiven
        /// An empty text.
        case text
        case null
    }

    package var contents = ContentForm.both

    /// What a template takes as the content of a message. Among 142 published templates 33 write a
    /// list of text parts as Python's `repr`, 9 drop it, and two drop a content that is a text.
    package enum ContentForm: Sendable, Equatable {
        /// A text and a list of text parts give the same.
        case both
        case text
        case parts
    }

    package init() {}
}
