import FoundationModels
import SampleRunner

/// Tools: kinds 40 to 47.
@main
struct Calling {
    static func main() async {
        await SampleProgram.run([
            Sample("AddressBook") { try await AddressBookSample.run() },
            Sample("Loaves") { try await Loaves.run() },
            Sample("Tides") { try await Tides.run() },
            Sample("FestivalDates") { try await FestivalDates.run() },
            Sample("Landmarks") { try await Landmarks.run() },
            Sample("NamesAndDetails") { try await NamesAndDetails.run() },
            Sample("Isolation") { try await Isolation.run() },
            Sample("JamRecipes") { try await JamRecipes.run() },
            Sample("ToolFailures") { try await ToolFailures.run() },
            Sample("ToolsByHand", needsModel: false) { try await ToolsByHand.run() },
        ])
    }

    /// A small model seldom calls a tool of its own accord; `toolCallingMode` makes it.
    static func certain(_ tokens: Int = 64) -> GenerationOptions {
        GenerationOptions(
            samplingMode: .greedy, maximumResponseTokens: tokens, toolCallingMode: .required)
    }

    /// The tools that a session has called, in their order.
    static func calls(of session: LanguageModelSession) -> [Transcript.ToolCall] {
        session.transcript.flatMap { entry -> [Transcript.ToolCall] in
            if case .toolCalls(let calls) = entry { Array(calls) } else { [] }
        }
    }
}
