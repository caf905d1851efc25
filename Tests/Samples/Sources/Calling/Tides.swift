import FoundationModels
import SampleRunner
import Synchronization

/// Kind 41: high water at a port, as text.
struct HighWater: Tool {
    let name = "highWater"
    let description = "Tells when the water is highest at a port."

    @Generable
    struct Arguments {
        @Guide(description: "The port", .anyOf(["Emden", "Husum", "Cuxhaven"]))
        var port: String
    }

    func call(arguments: Arguments) async throws -> String {
        let minute = arguments.port.count * 7 % 60
        return "High water at \(arguments.port) is at 11:\(minute < 10 ? "0" : "")\(minute)."
    }
}

/// Kind 41: the wind at a port, as a value. Counts how many calls there are at once.
final class Wind: Tool {
    let name = "wind"
    let description = "Tells how strong the wind is at a port."
    private let running = Mutex((now: 0, most: 0))

    @Generable
    struct Arguments {
        @Guide(.anyOf(["Emden", "Husum", "Cuxhaven"]))
        var port: String
    }

    @Generable
    struct Report {
        var port: String
        var knots: Int
    }

    var mostAtOnce: Int { running.withLock { $0.most } }

    func call(arguments: Arguments) async throws -> Report {
        running.withLock { running in
            running.now += 1
            running.most = max(running.most, running.now)
        }
        defer { running.withLock { $0.now -= 1 } }
        try await Task.sleep(for: .milliseconds(5))
        return Report(port: arguments.port, knots: 8 + arguments.port.count)
    }
}

enum Tides {
    static func run() async throws {
        let session = LanguageModelSession(
            tools: [HighWater()], instructions: "You help sailors with the tide.")
        let response = try await session.respond(
            to: "When is high water at Husum?", options: Calling.certain())
        print(session.transcript)
        try expect(!response.content.isEmpty, "there is an answer")

        // Three ports in one prompt: a capable model makes three calls, which run at once.
        let wind = Wind()
        let planner = LanguageModelSession(tools: [HighWater(), wind]) {
            "You plan trips on the North Sea."
            "Use wind for each port that is named."
        }
        _ = try await planner.respond(
            to: "Where is least wind: Emden, Husum or Cuxhaven?", options: Calling.certain(96))
        print(planner.transcript)
        var outputs = 0
        for entry in planner.transcript {
            if case .toolOutput(let output) = entry {
                outputs += 1
                if case .structure(let report)? = output.segments.first {
                    print("\(output.toolName) gave a \(report.source)")
                }
            }
        }
        try expect(outputs == Calling.calls(of: planner).count, "each call has an output")
        print("at once: \(wind.mostAtOnce)")
    }
}
