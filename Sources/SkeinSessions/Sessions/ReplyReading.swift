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
    private var escapes = EscapeReader()
    private let tell: (@Sendable (GeneratedContent) -> Void)?
    /// What the model said before it called tools; snapshots begin with it.
    private let before: String
    private var toldBytes = 0
    private(set) var text = ""
    private(set) var calls: [WrittenCall] = []
    private(set) var end: ReplyEnd?

    /// - Parameters:
    ///   - form: of the reply.
    ///   - id: of its snapshots.
    ///   - before: what was said in earlier rounds of the request.
    ///   - guardrails: what looks at it; nil: nothing does.
    ///   - tell: called with each snapshot; nil: no snapshot is wanted.
    init(
        _ form: ReplyRequest.Form, id: GenerationID, before: String,
        guardrails: GrowingGuardrails?, tell: (@Sendable (GeneratedContent) -> Void)?
    ) {
        if case .schema = form { isStructure = true } else { isStructure = false }
        self.id = id
        self.before = before
        self.guardrails = guardrails
        self.tell = tell
    }

    /// Whether a part of it has been told.
    var isTold: Bool { toldBytes > 0 }

    /// Takes what came next.
    ///
    /// - Throws: `GuardrailStop`, before a part is told that a check does not let pass; what a
    ///   check throws.
    mutating func take(_ update: ReplyUpdate) async throws {
        switch update {
        case .text(let more):
            text += more
            let meant = isStructure && guardrails != nil ? escapes.read(more) : more
            if let finding = try await guardrails?.add(meant) { throw GuardrailStop(finding) }
            tellIfDecided()
        case .callBegan(let id, let name):
            calls.append(WrittenCall(id: id, name: name, arguments: ""))
        case .arguments(let more):
            if !calls.isEmpty { calls[calls.count - 1].arguments += more }
        case .finished(let end):
            if let finding = try await guardrails?.end() { throw GuardrailStop(finding) }
            self.end = end
        }
    }

    /// Shows what no check is undecided on.
    private mutating func tellIfDecided() {
        guard let tell else { return }
        let pending = guardrails?.pendingBytes ?? 0
        if isStructure {
            guard pending == 0 else { return }
            toldBytes = text.utf8.count
            // The grammar lets nothing through that is no beginning of a value.
            if let content = try? GeneratedContent(json: text.utf8, id: id, isWhole: false) {
                tell(content)
            }
            return
        }
        let bytes = text.utf8.count - pending
        // Pending may reach back into what was said before: that was told already.
        guard bytes > toldBytes else { return }
        toldBytes = bytes
        let shown = pending == 0 ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
        tell(GeneratedContent(.string(before + shown), id: id, isComplete: false))
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
