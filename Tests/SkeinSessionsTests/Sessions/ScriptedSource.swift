import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinText
import Synchronization

@testable import SkeinSessions

/// Makes replies that a test wrote.
final class ScriptedSource: ReplySource {
    enum Step: Sendable {
        case text(String)
        case call(id: String, name: String, arguments: String)
        /// The limit cut the reply short.
        case cutShort
        /// Waits until the gate is opened.
        case gate(Gate)
        case fail(any Error)
    }

    struct Asked: Sendable {
        var messages: [ChatMessage]
        /// Names of the tools that may be called, and of those that the model is shown.
        var tools: [String]
        var shownTools: [String]
        var isSchema: Bool
        var choice: ToolChoice
        var maximumTokens: Int?
        var seed: UInt64
    }

    private struct State {
        var asked: [Asked] = []
        var cancelled = 0
        var replies = 0
    }

    let contextSize: Int
    private let steps: @Sendable (Asked, Int) -> [Step]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - contextSize: tokens of the window.
    ///   - steps: of the reply to what is asked, and its number from 0.
    init(contextSize: Int = 4096, _ steps: @escaping @Sendable (Asked, Int) -> [Step]) {
        self.contextSize = contextSize
        self.steps = steps
    }

    /// The same texts, one after the other, a word at a time.
    convenience init(saying texts: String...) {
        self.init { _, number in Self.words(texts[number % texts.count]) }
    }

    static func words(_ text: String) -> [Step] {
        text.split(separator: " ", omittingEmptySubsequences: false).enumerated().map {
            .text(($0 > 0 ? " " : "") + $1)
        }
    }

    var asked: [Asked] { state.withLock { $0.asked } }
    /// Replies that were not waited for to their ends.
    var cancelled: Int { state.withLock { $0.cancelled } }

    func reply(to request: ReplyRequest) -> AsyncThrowingStream<ReplyUpdate, any Error> {
        let isSchema = if case .schema = request.form { true } else { false }
        let asked = Asked(
            messages: request.conversation.messages,
            tools: request.conversation.tools.map(\.name),
            shownTools: request.conversation.shownTools.map(\.name), isSchema: isSchema,
            choice: request.conversation.choice, maximumTokens: request.maximumTokens,
            seed: request.sampler.seed)
        let number = state.withLock { state in
            state.asked.append(asked)
            defer { state.replies += 1 }
            return state.replies
        }
        let steps = steps(asked, number)
        let limit = request.maximumTokens ?? contextSize
        return AsyncThrowingStream { continuation in
            let task = Task {
                var end = ReplyEnd(
                    isCutShort: false, promptTokens: asked.messages.count, cachedTokens: 0,
                    replyTokens: 0, tokenLimit: limit)
                for step in steps {
                    if Task.isCancelled { return }
                    switch step {
                    case .text(let text):
                        end.replyTokens += 1
                        continuation.yield(.text(text))
                    case .call(let id, let name, let arguments):
                        end.replyTokens += 1
                        continuation.yield(.callBegan(id: id, name: name))
                        continuation.yield(.arguments(arguments))
                    case .cutShort: end.isCutShort = true
                    case .gate(let gate): await gate.wait()
                    case .fail(let error): return continuation.finish(throwing: error)
                    }
                }
                continuation.yield(.finished(end))
                continuation.finish()
            }
            continuation.onTermination = { [self] reason in
                if case .cancelled = reason { state.withLock { $0.cancelled += 1 } }
                task.cancel()
            }
        }
    }

    func tokenCount(of text: String) async throws -> Int { text.split(separator: " ").count }

    func tokenCount(ofBlock text: String) async throws -> Int {
        text.split(separator: " ").count
    }

    func tokenCount(of conversation: Conversation, addsReply: Bool) async throws -> Int {
        conversation.messages.reduce(0) {
            $0 + ($1["content"]?.string ?? "").split(separator: " ").count
        } + conversation.tools.count * 10 + (addsReply ? 1 : 0)
    }

    func warm(
        _ conversation: Conversation, schemas: [[UInt8]], adapter: ReplyRequest.Adapter?
    ) async throws {}
}

/// Holds tasks back until it is opened.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var inside: [CheckedContinuation<Void, Never>] = []
        var arrivals: [CheckedContinuation<Void, Never>] = []
        var arrived = 0
    }

    private let state = Mutex(State())

    /// Waits until it is open; a cancelled task does not wait longer either.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (goesOn, arrivals) = state.withLock { state in
                    state.arrived += 1
                    defer { state.arrivals = [] }
                    if state.isOpen || Task.isCancelled { return (true, state.arrivals) }
                    state.inside.append(continuation)
                    return (false, state.arrivals)
                }
                for arrival in arrivals { arrival.resume() }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            open()
        }
    }

    /// Waits until a reply is at the gate, or has been.
    func arrival() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrived > 0 { return true }
                state.arrivals.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func open() {
        let inside = state.withLock { state in
            state.isOpen = true
            defer { state.inside = [] }
            return state.inside
        }
        for continuation in inside { continuation.resume() }
    }
}
