import FoundationModels
import SampleRunner

/// State that belongs to the main actor.
@MainActor
final class Notepad {
    private(set) var openCount = 0
    var text = "Buy nails, paint the shed."

    func opened() { openCount += 1 }
}

/// Kind 45: no arguments, and a text that was captured when the tool was made.
struct ReadNotepad: Tool {
    let name = "readNotepad"
    let description = "Reads what the person has written down."
    let text: String

    @Generable
    struct Arguments {}

    func call(arguments: Arguments) async throws -> String { text }
}

/// Kind 45: goes to the main actor for what it needs.
struct ReadNotepadNow: Tool {
    let name = "readNotepadNow"
    let description = "Reads the notes as they are now."
    let notepad: Notepad

    @Generable
    struct Arguments {}

    func call(arguments: Arguments) async throws -> String {
        await MainActor.run {
            notepad.opened()
            return notepad.text
        }
    }
}

enum Isolation {
    @MainActor
    static func run() async throws {
        // Greedy, a small model would read the notes again and again, as nothing changes.
        let options = GenerationOptions(
            samplingMode: .random(top: 40, seed: 5), maximumResponseTokens: 32,
            toolCallingMode: .required)
        let notepad = Notepad()
        let captured = LanguageModelSession(
            tools: [ReadNotepad(text: notepad.text)], instructions: "Read the notes first.")
        _ = try await captured.respond(to: "What is left to do?", options: options)
        print(captured.transcript)

        let fresh = LanguageModelSession(
            tools: [ReadNotepadNow(notepad: notepad)], instructions: "Read the notes first.")
        notepad.text = "Nothing."
        _ = try await fresh.respond(to: "What is left to do?", options: options)
        print(fresh.transcript)
        try expect(notepad.openCount == Calling.calls(of: fresh).count, "each call has been there")
        try expect(notepad.openCount > 0, "there was one")
    }
}
