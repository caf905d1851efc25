import FoundationModels
import SampleRunner

/// Kind 52: a vocabulary in the instructions, and three parts of a text at once.
enum NamesAtOnce {
    static let names = ["Øystein", "Siobhán", "Wojciech", "Nguyễn"]
    static let options = GenerationOptions(temperature: 0.1, maximumResponseTokens: 16)

    static func corrected(_ text: String) async throws -> String {
        let session = LanguageModelSession {
            "Correct names in the text. The people are called:"
            names.joined(separator: ", ")
        }
        return try await session.respond(to: text, options: options).content
    }

    static func run() async throws {
        print(try await corrected("Oystein met Shivon."))

        async let first = corrected("Voytek rows.")
        async let second = corrected("Shivon steers.")
        async let third = corrected("Oystein sleeps.")
        let shards = try await [first, second, third]
        for shard in shards { print("- \(shard)") }
        try expect(shards.count == 3, "all parts come back")
    }
}
