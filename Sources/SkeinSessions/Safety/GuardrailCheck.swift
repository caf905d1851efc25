/// Which text is looked at.
public enum GuardrailStage: String, Sendable, Hashable, CaseIterable {
    /// What a person asks.
    case input
    /// What the model answers.
    case output
}

/// What a check says of a text.
public enum GuardrailVerdict: Sendable, Equatable {
    /// Nothing speaks against it.
    case pass
    /// The text must not be used: the request ends as `GenerationError.guardrailViolation`. The
    /// reason is for logs.
    case violation(reason: String)
    /// The request is declined, with an explanation for the person: a refusal where a type is
    /// generated, the answer itself where text is.
    case refusal(explanation: String)
}

/// Looks at prompts before the model does, and at answers before people do.
///
/// `DenyList` is one; others may ask a model of their own or a service. A check that throws ends
/// the request with its error: a text that could not be looked at is not let through.
///
/// ```swift
/// struct ShortPrompts: GuardrailCheck {
///     func check(_ text: String, on stage: GuardrailStage) -> GuardrailVerdict {
///         stage == .input && text.count > 2000 ? .violation(reason: "a long prompt") : .pass
///     }
/// }
/// ```
public protocol GuardrailCheck: Sendable {
    /// What a log calls the check. By default the name of the type.
    var name: String { get }

    /// Looks at a whole text.
    ///
    /// - Parameters:
    ///   - text: all of it.
    ///   - stage: whether a person or the model wrote it.
    /// - Returns: what the check says.
    /// - Throws: any error; the request ends with it.
    func check(_ text: String, on stage: GuardrailStage) async throws -> GuardrailVerdict

    /// Begins to look at a text that grows, such as a stream.
    ///
    /// By default the text is gathered, and looked at each time that it has doubled, and at its
    /// end: that takes at most twice the work of its last look, plus that one. A check that can go
    /// on where it stopped says so with a growing check of its own.
    ///
    /// - Parameter stage: whether a person or the model writes it.
    /// - Returns: what is asked about each piece.
    func growing(on stage: GuardrailStage) -> any GrowingTextCheck
}

extension GuardrailCheck {
    /// The name of the type.
    public var name: String { TypeName.of(type(of: self)) }

    /// Looks at the text each time that it has doubled, and at its end.
    ///
    /// - Parameter stage: whether a person or the model writes it.
    /// - Returns: what is asked about each piece.
    public func growing(on stage: GuardrailStage) -> any GrowingTextCheck {
        DoublingCheck(check: self, stage: stage)
    }
}

/// Looks at one text piece by piece, so that an answer can be checked while it is written. A check
/// makes one for each text (`GuardrailCheck.growing`).
public protocol GrowingTextCheck: Sendable {
    /// Looks at what came. What ends at the piece's end may go on in the next one.
    ///
    /// - Parameter piece: what follows the pieces before.
    /// - Returns: what the check says of the text so far.
    /// - Throws: any error; the request ends with it.
    mutating func add(_ piece: String) async throws -> GuardrailVerdict

    /// No more pieces follow.
    ///
    /// - Returns: what the check says of the whole text.
    /// - Throws: any error; the request ends with it.
    mutating func end() async throws -> GuardrailVerdict

    /// Bytes (UTF-8) at the end of the text so far that the check has not decided on: a word that may go
    /// on, what came since the last look. Streams hold them back. By default none.
    var pendingBytes: Int { get }
}

extension GrowingTextCheck {
    /// None.
    public var pendingBytes: Int { 0 }
}

/// Gathers the pieces and looks at all of them, seldom enough.
private struct DoublingCheck: GrowingTextCheck {
    let check: any GuardrailCheck
    let stage: GuardrailStage
    private var text = ""
    private var nextLook = firstLook
    private var seenBytes = 0

    /// Bytes before the first look: about a sentence.
    private static let firstLook = 64

    init(check: any GuardrailCheck, stage: GuardrailStage) {
        self.check = check
        self.stage = stage
    }

    mutating func add(_ piece: String) async throws -> GuardrailVerdict {
        text += piece
        guard text.utf8.count >= nextLook else { return .pass }
        nextLook = text.utf8.count * 2
        seenBytes = text.utf8.count
        return try await check.check(text, on: stage)
    }

    mutating func end() async throws -> GuardrailVerdict {
        seenBytes = text.utf8.count
        return try await check.check(text, on: stage)
    }

    var pendingBytes: Int { text.utf8.count - seenBytes }
}
