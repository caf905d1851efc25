import SkeinBasics
import SkeinJSON
import SkeinSimulation

/// How far a range of seeds has come, in a file that is replaced as a whole.
struct SeedProgress {
    private let path: String?
    /// The options that decide what a seed does, and the version: another one has other runs.
    private let purpose: String
    private var next: [Scenario.Recipe: UInt64] = [:]
    private var found: [Scenario.Recipe: Int] = [:]

    /// - Throws: `SimulationError.otherProgress`; `FileError`.
    init(_ options: SimulateCommand.Options) throws {
        path = options.progress
        purpose =
            "\(Version.text) \(options.seeds) \(options.workers ?? 0) \(options.steps ?? 0) "
            + (options.faults ?? "")
        guard let path, try FileKind.at(path) != nil else { return }
        let bytes = try RegularFile.bytes(of: path, from: 0, limit: 1 << 16)
        // What is no JSON is no progress either.
        guard let json = try? JSONReader.read(bytes, .foundation),
            json["purpose"]?.string == purpose
        else { throw SimulationError.otherProgress(path: path) }
        for recipe in Scenario.Recipe.allCases {
            guard let state = json[recipe.rawValue] else { continue }
            guard let next = state["next"]?.integer, let count = state["found"]?.integer,
                next > 0, count >= 0
            else { throw SimulationError.otherProgress(path: path) }
            self.next[recipe] = UInt64(next)
            found[recipe] = count
        }
    }

    /// The first seed that is not done.
    func first(_ recipe: Scenario.Recipe, of seeds: ClosedRange<UInt64>) -> UInt64 {
        max(next[recipe] ?? 0, seeds.lowerBound)
    }

    /// How many of those that are done have failed.
    func failures(_ recipe: Scenario.Recipe) -> Int { found[recipe] ?? 0 }

    /// Notes that all seeds before `next` are done.
    mutating func note(_ recipe: Scenario.Recipe, next: UInt64, found count: Int) throws {
        self.next[recipe] = next
        found[recipe] = count
        guard let path else { return }
        var fields = [JSONField(name: "purpose", value: .text(purpose))]
        for recipe in Scenario.Recipe.allCases {
            guard let next = self.next[recipe] else { continue }
            fields.append(
                JSONField(
                    name: recipe.rawValue,
                    value: .fields([
                        ("next", .integer(Int(next))), ("found", .integer(found[recipe] ?? 0)),
                    ])))
        }
        try AtomicFile.write(JSONValue.object(fields).written + "\n", to: path)
    }
}
