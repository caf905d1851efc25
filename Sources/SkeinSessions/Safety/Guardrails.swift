extension SystemLanguageModel {
    /// What is checked before a prompt reaches the model and before an answer reaches people.
    ///
    /// No classifier comes with this library: `default` lets everything pass. A program adds the
    /// checks that its subject needs:
    ///
    /// ```swift
    /// let names = try DenyList(["Voldemort"])
    /// let model = SystemLanguageModel(guardrails: .init(checks: [names]))
    /// ```
    ///
    /// Beside checks, instructions that set limits, fixed choices instead of free prompts, and
    /// answers of a type whose values are all harmless make a program safer.
    public struct Guardrails: Sendable {
        /// In the order in which they are asked.
        package let checks: [any GuardrailCheck]
        /// Whether checks leave requests alone that have a text as their answer.
        package let isPermissive: Bool
        /// Where requests are written down; nil: nowhere.
        package let log: SafetyLog?

        /// - Parameters:
        ///   - checks: in the order in which they are asked.
        ///   - permissiveContentTransformations: whether the checks look at requests for a type
        ///     alone, and leave those alone that have a text as their answer.
        ///   - log: where each request is written down, with what fired; nil: nowhere.
        public init(
            checks: [any GuardrailCheck], permissiveContentTransformations: Bool = false,
            log: SafetyLog? = nil
        ) {
            self.checks = checks
            isPermissive = permissiveContentTransformations
            self.log = log
        }

        /// No checks: no classifier comes with this library.
        public static let `default` = Guardrails(checks: [])

        /// For programs that rewrite or judge texts of others, whatever stands in them: requests
        /// that have a text as their answer are never stopped. The model may still decline.
        public static let permissiveContentTransformations = Guardrails(
            checks: [], permissiveContentTransformations: true)
    }
}

/// What a check had to say against a text.
package struct GuardrailFinding: Sendable, Equatable {
    /// The check's name.
    package let check: String
    /// Not `pass`.
    package let verdict: GuardrailVerdict
}

extension SystemLanguageModel.Guardrails {
    /// Asks all checks about a whole text.
    ///
    /// - Parameters:
    ///   - text: all of it.
    ///   - stage: whether a person or the model wrote it.
    ///   - isGuided: whether the answer is of a type.
    /// - Returns: what the first check says that does not let it pass; nil if all do.
    /// - Throws: what a check throws.
    package func finding(
        in text: String, on stage: GuardrailStage, isGuided: Bool
    ) async throws -> GuardrailFinding? {
        for check in applying(isGuided: isGuided) {
            let verdict = try await check.check(text, on: stage)
            if verdict != .pass { return GuardrailFinding(check: check.name, verdict: verdict) }
        }
        return nil
    }

    /// Begins to ask all checks about a text that grows.
    ///
    /// - Parameters:
    ///   - stage: whether a person or the model writes it.
    ///   - isGuided: whether the answer is of a type.
    /// - Returns: what is asked about each piece.
    package func growing(on stage: GuardrailStage, isGuided: Bool) -> GrowingGuardrails {
        GrowingGuardrails(applying(isGuided: isGuided).map { ($0.name, $0.growing(on: stage)) })
    }

    private func applying(isGuided: Bool) -> [any GuardrailCheck] {
        isPermissive && !isGuided ? [] : checks
    }
}

/// All checks of one growing text.
package struct GrowingGuardrails: Sendable {
    private var parts: [(name: String, check: any GrowingTextCheck)]

    fileprivate init(_ parts: [(name: String, check: any GrowingTextCheck)]) {
        self.parts = parts
    }

    /// Whether nothing is looked at.
    package var isEmpty: Bool { parts.isEmpty }

    /// Bytes at the end of the text that some check has not decided on.
    package var pendingBytes: Int { parts.reduce(0) { max($0, $1.check.pendingBytes) } }

    /// Asks about the next piece.
    ///
    /// - Parameter piece: what follows the pieces before.
    /// - Returns: what the first check says that does not let the text pass; nil if all do.
    /// - Throws: what a check throws.
    package mutating func add(_ piece: String) async throws -> GuardrailFinding? {
        for index in parts.indices {
            let verdict = try await parts[index].check.add(piece)
            if verdict != .pass {
                return GuardrailFinding(check: parts[index].name, verdict: verdict)
            }
        }
        return nil
    }

    /// Asks about the whole text; no more pieces follow.
    ///
    /// - Returns: what the first check says that does not let the text pass; nil if all do.
    /// - Throws: what a check throws.
    package mutating func end() async throws -> GuardrailFinding? {
        for index in parts.indices {
            let verdict = try await parts[index].check.end()
            if verdict != .pass {
                return GuardrailFinding(check: parts[index].name, verdict: verdict)
            }
        }
        return nil
    }
}
