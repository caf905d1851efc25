/// Puts a reply together from its updates.
struct ReplyReading {
    /// A call as the model wrote it.
    struct WrittenCall: Sendable {
        var id: String
        var name: String
        var arguments: String
    }

    private let isStructure: Bool
    private let id: GenerationID
    private var guardrails: GrowingGuardrails?
    private let tell: (@Sendable (GeneratedContent) -> Void)?
    private(set) var text = ""
    private(set) var calls: [WrittenCall] = []
    private(set) var end: ReplyEnd?

    init(
        _ form: ReplyRequest.Form, id: GenerationID, guardrails: GrowingGuardrails?,
        tell: (@Sendable (GeneratedContent) -> Void)?
    ) {
        if case .schema = form { isStructure = true } else { isStructure = false }
        self.id = id
        self.guardrails = guardrails
        self.tell = tell
    }

    /// Takes what came next.
    ///
    /// - Throws: `GuardrailStop`, before anybody has seen what a check does not let pass; what a check
    ///   throws.
    mutating func take(_ update: ReplyUpdate) async throws {
        switch update {
        case .text(let more):
            text += more
            if let finding = try await guardrails?.add(more) { throw GuardrailStop(finding) }
            if let tell, let content = snapshot { tell(content) }
        case .callBegan(let id, let name):
            calls.append(WrittenCall(id: id, name: name, arguments: ""))
        case .arguments(let more):
            if !calls.isEmpty { calls[calls.count - 1].arguments += more }
        case .finished(let end):
            if let finding = try await guardrails?.end() { throw GuardrailStop(finding) }
            self.end = end
        }
    }

    /// What there is so far; nil if it is nothing yet.
    private var snapshot: GeneratedContent? {
        guard isStructure else {
            return GeneratedContent(.string(text), id: id, isComplete: false)
        }
        // The grammar lets nothing through that is no beginning of a value.
        return try? GeneratedContent(json: text.utf8, id: id, isWhole: false)
    }
}

/// A check does not let a text pass.
struct GuardrailStop: Error {
    let finding: GuardrailFinding

    init(_ finding: GuardrailFinding) { self.finding = finding }

    /// For a log.
    var text: String {
        switch finding.verdict {
        case .pass: finding.check
        case .violation(let reason): "\(finding.check): \(reason)"
        case .refusal(let explanation): "\(finding.check): declined: \(explanation)"
        }
    }
}
