/// A message as providers take it, and in OpenAI's protocol if it is encoded.
package struct Message: Encodable, Sendable, Equatable {
    package enum Role: String, Encodable, Sendable {
        case system
        case user
        case assistant
    }

    package var role: Role
    package var text: String

    private enum CodingKeys: String, CodingKey {
        case role
        case text = "content"
    }

    package init(_ role: Role, _ text: String) {
        self.role = role
        self.text = text
    }
}

/// Whoever can answer: a model in this process, a server, a script in tests.
package protocol Provider: Sendable {
    /// What people call it by.
    var name: String { get }
    /// What it is, whatever it is called the next time: an address and a model.
    var identity: String { get }
    /// Whether nothing that it is asked leaves this machine.
    var isLocal: Bool { get }
    /// Whether its answers come from no model. Such a provider is asked by its name and never otherwise.
    var isSimulation: Bool { get }
    /// Tokens of a prompt and its answer together.
    var window: Int { get }

    /// Why it cannot be asked now; nil: it can. Does not wait for a network.
    func hindrance() async -> String?

    /// Tokens of a prompt, exactly or as an estimate that is rather too high.
    ///
    /// - Throws: `ProviderFailure`.
    func tokenCount(of messages: [Message]) async throws -> Int

    /// The pieces of an answer, as they are made. Ending the iteration, or cancelling the task that iterates, ends the
    /// work. All pieces together are bounded by the provider, whoever is at its other end. It ends with
    /// `ProviderFailure`; any other error counts as one.
    ///
    /// - Parameters:
    ///   - messages: system messages, then questions and answers in turns; a question is the last one.
    ///   - tokens: how long the answer may become.
    /// - Returns: text that makes the answer if it is put together.
    func answer(to messages: [Message], tokens: Int) -> AsyncThrowingStream<String, any Error>
}

extension Provider {
    package var identity: String { name }
    package var isSimulation: Bool { false }
    package func hindrance() async -> String? { nil }
}
