import Foundation
import FoundationModels
import SampleRunner

/// Kind 37: words that may stand neither in a prompt nor in an answer.
enum WordLists {
    static let words: Set<String> = ["dragonfire", "basilisk"]

    static func isClean(_ text: String) -> Bool {
        let found = text.lowercased().split { !$0.isLetter }.map(String.init)
        return words.isDisjoint(with: found)
    }

    static func answer(to text: String) async throws -> String? {
        guard isClean(text) else { return nil }
        let session = LanguageModelSession(instructions: "You tell tales in one sentence.")
        let content = try await session.respond(
            to: text, options: GenerationOptions(maximumResponseTokens: 20)
        ).content
        return isClean(content) ? content : nil
    }

    static func run() async throws {
        let tale = try await answer(to: "Tell of a knight.")
        print(tale ?? "(an answer that is not shown)")
        try expect(
            try await answer(to: "Tell of a BASILISK!") == nil, "the prompt is looked at")

        // The same with this library's list, which can be replaced, and a log.
        let file = FileManager.default.temporaryDirectory
            .appending(path: "safety-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        let list = try DenyList(words)
        let model = SystemLanguageModel(
            guardrails: .init(checks: [list], log: try SafetyLog(fileURL: file)))
        let session = LanguageModelSession(model: model)
        for (prompt, term) in [
            ("Tell of a basilisk.", "basilisk"), ("Tell of a griffin.", "griffin"),
        ] {
            try list.replace(with: [term])
            do {
                _ = try await session.respond(to: prompt)
                throw Unexpected("the list let \(term) pass")
            } catch LanguageModelSession.GenerationError.guardrailViolation {
                print("stopped: \(prompt)")
            }
        }
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        for line in lines { print(line) }
        try expect(lines.count == 2, "the log has a line for each request")
    }
}
