import SkeinTestSupport
import Testing

@testable import SkeinSessions

@Suite("Counts of tokens")
struct TokenCountTests {
    private typealias GenerationError = LanguageModelSession.GenerationError

    private func withCase(_ body: (SessionCase) async throws -> Void) async throws {
        try await TestPaths.inTemporaryDirectory { try await body(SessionCase(in: $0)) }
    }

    @Test("A text without an end is not counted")
    func countedBytes() async throws {
        try await withCase { tiny in
            let model = tiny.model()
            let count = try await model.tokenCount(for: "the end of the world")
            #expect(count > 4)
            let bytes = SessionLimits.countedBytes + 1
            await #expect {
                try await model.tokenCount(for: String(repeating: "a", count: bytes))
            } throws: { error in
                guard case GenerationError.exceededContextWindowSize(let context) = error else {
                    return false
                }
                return context.count == bytes && context.limit == bytes - 1
            }
        }
    }

    @Test("Many texts are counted at once, whatever requests may wait")
    func countsAtOnce() async throws {
        try await withCase { tiny in
            let model = tiny.model {
                $0.parallelReplies = 1
                $0.waitingRequests = 0
            }
            let text = String(repeating: "the end of the world ", count: 20)
            let count = try await model.tokenCount(for: text)
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<600 { group.addTask { try await model.tokenCount(for: text) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == Array(repeating: count, count: 600))
        }
    }
}
