/// A sample prompt that the model of a run cannot answer. The words are those of `skein generate`.
package enum SamplePromptError: Error, Equatable {
    case empty
    /// The prompt leaves no room for an answer.
    case tooLong(tokens: Int, limit: Int)
}
