import Foundation
import Skein

/// `Adapters MODEL ROWS ADAPTER...`: sessions with several adapters of one base model in turns, on one copy of
/// its weights; then the loss of each adapter over a file of rows.
@main enum Adapters {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 3 else {
            print("usage: Adapters MODEL ROWS ADAPTER...")
            exit(64)
        }
        let base = URL(filePath: words[1])
        let models = try words[3...].map { path in
            let adapter = try SystemLanguageModel.Adapter(fileURL: URL(filePath: path))
            return SystemLanguageModel(model: base, adapter: adapter)
        }

        var first: [String] = []
        for number in models.indices {
            // As many requests with one adapter more, in turns: what they leave in caches is no part of the difference.
            for round in 0..<8 {
                for (turn, model) in models[...number].enumerated() {
                    let answer = try await answer(of: model)
                    if turn == first.count { first.append(answer) }
                    guard answer == first[turn] else {
                        print("round \(round): another answer of \(turn): \(answer)")
                        exit(1)
                    }
                }
            }
            print("answer of \(number): \(first[number])")
            print("resident with \(number + 1):", try residentBytes())
        }

        var recipe = Recipe()
        recipe.maxLength = 64
        for (number, model) in models.enumerated() {
            let evaluation = try await model.evaluation(on: words[2], recipe: recipe)
            print("loss of \(number):", evaluation.loss ?? .nan)
        }
    }

    static func answer(of model: SystemLanguageModel) async throws -> String {
        try await LanguageModelSession(model: model).respond(
            to: "What is a nybble?",
            options: GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 16)
        ).content
    }

    /// Bytes of this process in memory.
    static func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = Int(text.split(separator: " ")[1]) ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
