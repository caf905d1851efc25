import Foundation
import Routing

/// All events of an answer and what it ended with.
func outcome(
    of events: AsyncThrowingStream<ChatRouter.Event, any Error>
) async -> (events: [ChatRouter.Event], error: (any Error)?) {
    var seen: [ChatRouter.Event] = []
    do {
        for try await event in events { seen.append(event) }
        return (seen, nil)
    } catch {
        return (seen, error)
    }
}

extension ChatRouter {
    /// The text of an answer.
    func said(_ question: String) async throws -> String {
        var text = ""
        for try await event in ask(question) {
            switch event {
            case .text(let piece): text += piece
            case .failed: text = ""
            default: break
            }
        }
        return text
    }
}

/// Waits for an event that must come, however busy the machine is.
///
/// - Throws: `TooLate` after five minutes.
func until(_ isSo: () async -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(300)
    while await !isSo() {
        guard ContinuousClock.now < end else { throw TooLate() }
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// What was waited for has not come.
struct TooLate: Error {}

/// A folder that is removed with the test's end.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory
        .appending(path: "router-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
        // A folder that stays behind in the place for such things does not matter.
        try? FileManager.default.removeItem(at: folder)
    }
    return try await body(folder)
}
