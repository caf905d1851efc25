import FoundationModels
import SampleRunner

@Generable
struct GardenTip {
    @Guide(description: "What to do", .anyOf(["water", "prune", "wait"]))
    var action: String
}

struct SoilMoisture: Tool {
    let name = "soilMoisture"
    let description = "Measures how wet a bed is."

    @Generable
    struct Arguments {
        @Guide(description: "Number of the bed", .range(1...12))
        var bed: Int
    }

    func call(arguments: Arguments) async throws -> String { "Bed \(arguments.bed) is dry." }
}

/// Kind 50: what things cost, and how much room is left.
enum TokenBudget {
    static func run() async throws {
        let model = SystemLanguageModel.default
        let instructions = Instructions("You are a gardener. Answer briefly.")
        let tools: [any Tool] = [SoilMoisture()]
        let rules = try await model.tokenCount(for: instructions)
        let tool = try await model.tokenCount(for: tools)
        let schema = try await model.tokenCount(for: GardenTip.generationSchema)
        let prompt = try await model.tokenCount(for: "Is it time to water the beans?")
        let builder = try await model.tokenCount(for: Prompt { "Is it time to water the beans?" })
        print(
            "window \(model.contextSize): rules \(rules), tool \(tool), schema \(schema), \(prompt)"
        )
        for count in [rules, tool, schema, prompt] { try expect(count > 0, "all of it counts") }
        try expect(prompt == builder, "a text and a prompt of it count the same")

        let session = LanguageModelSession(instructions: instructions)
        _ = try await session.respond(
            to: "Is it time to water the beans?",
            options: GenerationOptions(maximumResponseTokens: 12))
        let used = try await model.tokenCount(for: session.transcript)
        let left = model.contextSize - used
        print("used \(used), left \(left)")
        try expect(used > rules && left > 0, "a talk takes room")
        let start = try await model.tokenCount(for: Array(session.transcript.prefix(1)))
        try expect(start < used, "a part of it takes less")

        // The older spelling, which newer code need not use.
        let usage = try await model.tokenUsage(for: Prompt("Is it time to water the beans?"))
        try expect(usage.tokenCount == prompt, "both count the same")

        let notes = try await filled(upTo: 0.6, of: model)
        print("\(notes.count) notes fit into 60 %")
        try expect(!notes.isEmpty, "some notes fit")
    }

    /// The best notes that fit into a share of the window.
    private static func filled(
        upTo share: Double, of model: SystemLanguageModel
    ) async throws -> [String] {
        let ranked = (1...5).map { rank in
            (rank: rank, text: String(repeating: "Bed \(rank) was weeded in May. ", count: 90))
        }
        var room = Int(Double(model.contextSize) * share)
        var notes: [String] = []
        for note in ranked.sorted(by: { $0.rank < $1.rank }) {
            let count = try await model.tokenCount(for: note.text)
            guard count <= room else { break }
            room -= count
            notes.append(note.text)
        }
        return notes
    }
}
