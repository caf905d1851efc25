import FoundationModels
import SampleRunner

/// Kind 56: one prompt tried on many inputs, with tokens and times, as a program for the console.
enum PromptTrials {
    static func run() async throws {
        let inputs = ["a broken kettle", "a ladder, hardly used", "three left boots"]
        for input in inputs {
            let session = LanguageModelSession(
                instructions: "Write a small ad in one short sentence.")
            let response = try await session.respond(
                to: "Sell \(input).",
                options: GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 20))
            let usage = response.usage
            print(
                """
                \(input): \(usage.input.totalTokenCount) in, \
                \(usage.output.totalTokenCount) out, first after \
                \(usage.metadata.timeToFirstToken ?? .zero)
                  \(response.content)
                """)
            try expect(usage.output.totalTokenCount > 0, "tokens are counted")
        }
    }
}
