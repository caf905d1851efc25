import Foundation
import FoundationModels
import SampleRunner

/// Kind 49: a talk that is put away and goes on later.
enum ResumeTalk {
    static func run() async throws {
        let options = GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 12)
        let session = LanguageModelSession(instructions: "You sell cheese at a market.")
        _ = try await session.respond(to: "Do you have goat's cheese?", options: options)

        let file = FileManager.default.temporaryDirectory
            .appending(path: "talk-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try JSONEncoder().encode(session.transcript).write(to: file)

        let stored = try JSONDecoder().decode(Transcript.self, from: Data(contentsOf: file))
        try expect(stored == session.transcript, "what is read is what was written")
        let again = LanguageModelSession(transcript: stored)
        let first = try await session.respond(to: "How much is it?", options: options)
        let second = try await again.respond(to: "How much is it?", options: options)
        print(second.content)
        try expect(first.content == second.content, "the other session goes on in the same way")

        // A dialogue that never took place, as the beginning of one.
        let prepared = Transcript(entries: [
            .instructions(
                .init(
                    segments: [.text(.init(content: "Answer as the last time."))],
                    toolDefinitions: [])),
            .prompt(.init(segments: [.text(.init(content: "Black or white?"))])),
            .response(.init(assetIDs: [], segments: [.text(.init(content: "White."))])),
        ])
        let started = LanguageModelSession(model: .default, tools: [], transcript: prepared)
        print(try await started.respond(to: "Left or right?", options: options).content)
        try expect(started.transcript.count == 5, "the dialogue goes on")
    }
}
