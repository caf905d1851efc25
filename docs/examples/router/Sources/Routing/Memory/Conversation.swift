/// A question with its answer.
package struct Turn: Codable, Sendable, Equatable {
    package var question: String
    package var answer: String
    /// Who answered.
    package var provider: String
    /// Whether the person stopped the answer; it stays as far as it was shown.
    package var isCutShort: Bool

    package init(question: String, answer: String, provider: String, isCutShort: Bool = false) {
        self.question = question
        self.answer = answer
        self.provider = provider
        self.isCutShort = isCutShort
    }
}

/// All that was said, whoever said it. It keeps every turn; what a provider is told of it is `Memory`'s business.
package struct Conversation: Codable, Sendable, Equatable {
    /// What a stored conversation begins with. One of a later version is refused.
    package static let version = 1

    package private(set) var version = Self.version
    package var instructions: String
    /// Whether it must not leave this machine.
    package var isPrivate: Bool
    package var turns: [Turn] = []
    /// What the last provider that had no room for all turns is told in place of the first ones.
    package var summary: Summary?

    package struct Summary: Codable, Sendable, Equatable {
        /// nil: nothing; there was none to be had.
        package var text: String?
        /// How many of the first turns it stands for.
        package var turns: Int
        /// The identity of who made it. It is told to nobody else: it stands among the instructions, where a
        /// stranger's words have no place.
        package var provider: String

        package init(text: String?, turns: Int, provider: String) {
            self.text = text
            self.turns = turns
            self.provider = provider
        }
    }

    package init(instructions: String = "", isPrivate: Bool = false) {
        self.instructions = instructions
        self.isPrivate = isPrivate
    }

    /// What a provider is told: instructions, perhaps with a summary of the turns before `first`, the turns from there
    /// on, a question. A template may know no second system message, so there is one at most.
    func messages(from first: Int, summary: String?, question: String) -> [Message] {
        let system = [instructions, summary.map { "What was said before: \($0)" } ?? ""]
            .filter { !$0.isEmpty }.joined(separator: "\n\n")
        return (system.isEmpty ? [] : [Message(.system, system)])
            + turns[first...].flatMap { turn in
                [Message(.user, turn.question), Message(.assistant, turn.answer)]
            }
            + [Message(.user, question)]
    }
}
