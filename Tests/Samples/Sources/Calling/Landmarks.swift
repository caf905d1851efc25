import FoundationModels
import SampleRunner
import Synchronization

/// Kind 43: a class that remembers what it was asked, with a choice as its argument.
final class FindLandmarks: Tool {
    let name = "findLandmarks"
    let description = "Finds what there is to see on an island."

    @Generable
    enum Category: String, CaseIterable {
        case lighthouse, chapel, cave, inn
    }

    @Generable
    struct Arguments {
        @Guide(description: "What to look for")
        let category: Category
        @Guide(.pattern(/[a-z]{3,8}/))
        let wish: String
    }

    private let island: String
    private let asked = Mutex([Category]())

    init(island: String) {
        self.island = island
    }

    var history: [Category] { asked.withLock { $0 } }

    func call(arguments: Arguments) async throws -> String {
        asked.withLock { $0.append(arguments.category) }
        return switch arguments.category {
        case .lighthouse: "On \(island): North Light, South Light"
        case .chapel: "On \(island): Chapel of Saint Olaf"
        case .cave: "On \(island): Seal Cave"
        case .inn: "On \(island): The Net, The Anchor"
        }
    }
}

enum Landmarks {
    static func run() async throws {
        let tool = FindLandmarks(island: "Hvaler")
        let session = LanguageModelSession(
            tools: [tool],
            instructions: Instructions {
                "You plan days on an island."
                "Always use findLandmarks for an inn and for something to see."
                FindLandmarks.Category.allCases.map(\.rawValue)
            })
        let response = try await session.respond(
            to: "Plan a day with a meal.", options: Calling.certain(96))
        print(session.transcript)
        // Two calls in one round would make six entries.
        let calls = Calling.calls(of: session).count
        let rounds = session.transcript.filter { if case .toolCalls = $0 { true } else { false } }
        try expect(tool.history.count == calls, "the class remembers all calls")
        try expect(
            session.transcript.count >= 3 + rounds.count + calls,
            "instructions, prompt, rounds, an output for each call, response")
        print("\(session.transcript.count) entries: \(response.content)")
    }
}
