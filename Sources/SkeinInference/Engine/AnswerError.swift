import SkeinModels

/// Why an engine does not begin, or an answer is not made.
package enum AnswerError: Error, Equatable {
    /// The system refuses another thread.
    case noThread
    /// The answer would never fit, or its job is wrong: neither `.admitted` nor `.full`.
    case refused(BatchDecoder.Admission)
    /// An error of the engine's own: the decoder does not take what was picked.
    case notFed(BatchDecoder.Feeding)
}
