/// Repeats what it was asked, for demonstrations without a model. Every answer says that it is none.
package struct SimulatedProvider: Provider {
    package static let label = "[simulated]"

    package let name: String
    package let isLocal = true
    package let isSimulation = true
    package let window = 4096

    package init(name: String = "simulation") {
        self.name = name
    }

    package func tokenCount(of messages: [Message]) -> Int {
        messages.reduce(0) { $0 + $1.text.split(separator: " ").count }
    }

    package func answer(
        to messages: [Message], tokens: Int
    ) -> AsyncThrowingStream<String, any Error> {
        let words = (messages.last?.text ?? "").split(separator: " ").prefix(max(0, tokens - 4))
        return AsyncThrowingStream { continuation in
            continuation.yield("\(Self.label) You said:")
            for word in words { continuation.yield(" \(word)") }
            continuation.finish()
        }
    }
}
