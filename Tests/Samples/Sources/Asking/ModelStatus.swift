import FoundationModels
import SampleRunner

// Kinds 1, 2 and 3: what a program says and does where there is no model.

/// One place that decides whether the parts of a program that need a model are shown.
struct ModelStatus {
    /// Kind 1: a line for each reason, and for those that are not known yet.
    static func line(for model: SystemLanguageModel = .default) -> String {
        switch model.availability {
        case .available:
            return "Suggestions are on."
        case .unavailable(.deviceNotEligible):
            return "This machine is too small for suggestions."
        case .unavailable(.appleIntelligenceNotEnabled):
            return "Configure a model to get suggestions."
        case .unavailable(.modelNotReady):
            return "The model is still on its way. Try again in a few minutes."
        case .unavailable(let other):
            return "No suggestions now: \(other)."
        @unknown default:
            return "No suggestions now."
        }
    }

    /// Kind 1: the same about a value, with all that may come in one more case.
    static func shortLine(_ availability: SystemLanguageModel.Availability) -> String {
        switch availability {
        case .available: "ready"
        case .unavailable(let reason):
            switch reason {
            case .deviceNotEligible: "never on this machine"
            case .appleIntelligenceNotEnabled: "switched off"
            case .modelNotReady: "not yet"
            @unknown default: "unknown"
            }
        }
    }

    static func run() async throws {
        print(line())
        print(shortLine(SystemLanguageModel.default.availability))
        let reasons: [SystemLanguageModel.Availability.UnavailableReason] = [
            .deviceNotEligible, .appleIntelligenceNotEnabled, .modelNotReady,
        ]
        try expect(Set(reasons).count == 3, "the reasons can be told apart")
        let lines = Set(reasons.map { shortLine(.unavailable($0)) } + [shortLine(.available)])
        try expect(lines.count == 4, "each state has a line of its own")

        let shelf = Shelf()
        print(try await shelf.blurb(for: ""))
        try expect(shelf.canSuggest == SystemLanguageModel.default.isAvailable, "the flag is kept")
        let keeper = SessionKeeper()
        try expect(keeper.session == nil, "no session is made before it is asked for")
        keeper.open()
        try expect(keeper.session != nil, "the session is kept")
    }
}

/// Kind 2: an early return, and a flag that is asked for once.
struct Shelf {
    let canSuggest = SystemLanguageModel.default.isAvailable

    func blurb(for title: String) async throws -> String {
        guard SystemLanguageModel.default.isAvailable else { return "(no blurb)" }
        guard !title.isEmpty else { return "(no title)" }
        let session = LanguageModelSession()
        return try await session.respond(to: "Say one sentence about \(title).").content
    }
}

/// Kind 3: a session kept as `AnyObject?` by a type that older systems know, too.
final class SessionKeeper {
    private var stored: AnyObject?

    @available(macOS 26.0, *)
    var session: LanguageModelSession? { stored as? LanguageModelSession }

    func open() {
        if #available(macOS 26.0, *) {
            stored = LanguageModelSession(instructions: "You keep a village library.")
        }
    }
}
