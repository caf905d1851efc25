import FoundationModels
import SampleRunner

/// Kinds 7 and 8: instructions and prompts that are put together.
enum InstructionBuilders {
    struct Guest {
        var name: String
        var isChild: Bool
        var wishes: [String]
    }

    static func run() async throws {
        let short = GenerationOptions(maximumResponseTokens: 16)
        // Kind 7: alone, behind the model, behind tools.
        let alone = LanguageModelSession {
            "You are the guide of a salt mine."
            "Answer in a few words."
        }
        print(try await alone.respond(to: "How deep is it?", options: short).content)
        let behindModel = LanguageModelSession(model: .default) {
            "You are the guide of a salt mine."
        }
        let behindTools = LanguageModelSession(tools: []) {
            "You are the guide of a salt mine."
        }
        let behindBoth = LanguageModelSession(model: SystemLanguageModel.default, tools: []) {
            "You are the guide of a salt mine."
        }
        for session in [behindModel, behindTools, behindBoth] {
            try expect(session.transcript.count == 1, "instructions are the first entry")
        }

        // Kind 8: values, variables, `if`, loops.
        let guest = Guest(name: "Ilse", isChild: true, wishes: ["the slide", "the lake"])
        let instructions = Instructions {
            "You are the guide of a salt mine, and your guest is \(guest.name)."
            if guest.isChild {
                "Use words that a child of six knows."
            }
            for wish in guest.wishes {
                "The guest wants to see \(wish)."
            }
        }
        let session = LanguageModelSession(instructions: instructions)
        let isLate = false
        let prompt = Prompt {
            "Greet the guest."
            if isLate {
                "Say that the mine closes soon."
            } else {
                "Say what comes first."
            }
            guest.wishes
        }
        print(try await session.respond(to: prompt, options: short).content)
        print(try await session.respond(to: Prompt("And then?"), options: short).content)
        let last = try await session.respond(options: short) {
            "Say goodbye to \(guest.name)."
        }
        print(last.content)
        try expect(session.transcript.count == 7, "three prompts, three answers, instructions")
    }
}
