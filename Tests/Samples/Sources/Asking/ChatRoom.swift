import FoundationModels
import SampleRunner

/// Kinds 11 and 12: a class with one session, and a request at a time.
@MainActor
final class ChatRoom {
    private var session = LanguageModelSession(instructions: "You chat about bees. Be brief.")
    private(set) var lines: [String] = []

    /// Kind 12: what a button asks before it can be pressed.
    var canSend: Bool { !session.isResponding }

    func send(_ text: String) async throws {
        guard canSend else { return }
        lines.append("you: \(text)")
        let options = GenerationOptions(maximumResponseTokens: 16)
        let response = try await session.respond(to: text, options: options)
        lines.append("bees: \(response.content)")
    }

    func forget() {
        session = LanguageModelSession(instructions: "You chat about bees. Be brief.")
    }

    var turns: Int {
        session.transcript.filter { if case .prompt = $0 { true } else { false } }.count
    }

    /// Kind 11, the other way: nothing is remembered from call to call.
    static func once(_ text: String) async throws -> String {
        let session = LanguageModelSession(instructions: "Answer in three words.")
        return try await session.respond(
            to: text, options: GenerationOptions(maximumResponseTokens: 8)
        ).content
    }

    static func run() async throws {
        let room = ChatRoom()
        try await room.send("What do they do in winter?")
        try await room.send("And in spring?")
        try expect(room.turns == 2, "the session remembers both")

        // While one request runs, `canSend` is false and the next one is dropped.
        async let first: Void = room.send("Do they sleep?")
        while room.canSend && room.turns == 2 { await Task.yield() }
        let wasBusy = !room.canSend
        try await room.send("Are they cold?")
        let isBusy = !room.canSend
        try await first
        if wasBusy && isBusy {
            try expect(room.turns == 3, "a request while another one runs is not sent")
        }
        try expect(room.canSend, "the button is on again")
        for line in room.lines { print(line) }

        room.forget()
        try expect(room.turns == 0, "a new session remembers nothing")
        print(try await once("What is wax?"))
    }
}
