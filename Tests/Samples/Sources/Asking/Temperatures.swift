import FoundationModels
import SampleRunner

/// Kind 9: how the words of an answer are chosen, and how many there may be.
enum Temperatures {
    static func run() async throws {
        let prompt = "Suggest a name for a ferry."
        let choices = [
            GenerationOptions(temperature: 2.0, maximumResponseTokens: 12),
            GenerationOptions(temperature: 0.9, maximumResponseTokens: 12),
            GenerationOptions(temperature: 0.7, maximumResponseTokens: 12),
            GenerationOptions(temperature: 0.1, maximumResponseTokens: 12),
        ]
        for options in choices {
            let session = LanguageModelSession()
            let response = try await session.respond(to: prompt, options: options)
            print("\(options.temperature ?? 1): \(response.content)")
            try expect(
                response.usage.output.totalTokenCount <= 12, "there are at most 12 tokens")
        }

        // The spelling of the 26 releases; newer code says `samplingMode`.
        let greedy = GenerationOptions(sampling: .greedy, maximumResponseTokens: 12)
        let first = try await LanguageModelSession().respond(to: prompt, options: greedy)
        let second = try await LanguageModelSession().respond(to: prompt, options: greedy)
        print("greedy: \(first.content)")
        try expect(first.content == second.content, "greedy answers are the same")

        let seeded = GenerationOptions(
            sampling: .random(top: 40, seed: 7), temperature: 0.7, maximumResponseTokens: 12)
        let third = try await LanguageModelSession().respond(to: prompt, options: seeded)
        let fourth = try await LanguageModelSession().respond(to: prompt, options: seeded)
        print("seeded: \(third.content)")
        try expect(third.content == fourth.content, "answers of one seed are the same")

        var nucleus = GenerationOptions()
        nucleus.samplingMode = .random(probabilityThreshold: 0.9)
        nucleus.maximumResponseTokens = 12
        print(
            "nucleus: \(try await LanguageModelSession().respond(to: prompt, options: nucleus).content)"
        )

        let long = GenerationOptions(maximumResponseTokens: 100)
        try expect(long != GenerationOptions(maximumResponseTokens: 200), "options are values")
    }
}
