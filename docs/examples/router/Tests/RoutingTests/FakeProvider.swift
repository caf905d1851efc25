import Routing
import Synchronization

/// A provider that does what a script says, and remembers what it was asked. A word is a token.
final class FakeProvider: Provider {
    /// What it does when it is asked.
    enum Step: Sendable {
        case answer([String])
        /// Says some words, then fails.
        case fail([String] = [], ProviderFailure)
        /// Says some words, then nothing until it is left.
        case stall([String] = [])
        case passOn(AsyncThrowingStream<String, any Error>)
        /// Says nothing, and does not care whether it is left.
        case ignoreCancellation
    }

    let name: String
    let isLocal: Bool
    let isSimulation: Bool
    let window: Int
    private let reason: String?
    private let script: Mutex<[Step]>
    private let prompts = Mutex<[[Message]]>([])
    private let limits = Mutex<[Int]>([])
    private let endings = Mutex(0)
    private let counts = Mutex(0)

    // `script` has a step for each time; the last one is also for all further times.
    init(
        _ name: String, _ script: [Step], window: Int = 1000, isLocal: Bool = true,
        isSimulation: Bool = false, hindrance: String? = nil
    ) {
        self.name = name
        self.isLocal = isLocal
        self.isSimulation = isSimulation
        self.window = window
        self.script = Mutex(script)
        reason = hindrance
    }

    /// All that it was asked.
    var asked: [[Message]] { prompts.withLock { $0 } }
    /// How many tokens each answer could have had.
    var answerLimits: [Int] { limits.withLock { $0 } }
    /// How many answers were left before their end.
    var timesLeft: Int { endings.withLock { $0 } }

    func hindrance() -> String? { reason }

    /// How often it has counted.
    var timesCounted: Int { counts.withLock { $0 } }

    func tokenCount(of messages: [Message]) -> Int {
        counts.withLock { $0 += 1 }
        return sum(messages)
    }

    private func sum(_ messages: [Message]) -> Int {
        messages.reduce(0) { $0 + $1.text.split(whereSeparator: \.isWhitespace).count }
    }

    func answer(
        to messages: [Message], tokens: Int
    ) -> AsyncThrowingStream<String, any Error> {
        prompts.withLock { $0.append(messages) }
        limits.withLock { $0.append(tokens) }
        let step = script.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        if case .passOn(let answer) = step { return answer }
        if case .ignoreCancellation = step {
            // Whoever reads this waits for ever, cancelled or not.
            return AsyncThrowingStream {
                await withUnsafeContinuation { (_: UnsafeContinuation<String?, Never>) in }
            }
        }
        return AsyncThrowingStream { continuation in
            continuation.onTermination = { [self] reason in
                if case .cancelled = reason { endings.withLock { $0 += 1 } }
            }
            switch step {
            case .answer(let pieces):
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            case .fail(let pieces, let failure):
                for piece in pieces { continuation.yield(piece) }
                continuation.finish(throwing: failure)
            case .stall(let pieces):
                for piece in pieces { continuation.yield(piece) }
                // The continuation lives on in what a cancelled stream does not end by itself.
                held.withLock { $0.append(continuation) }
            case .passOn, .ignoreCancellation: break
            }
        }
    }

    private let held = Mutex<[AsyncThrowingStream<String, any Error>.Continuation]>([])
}
