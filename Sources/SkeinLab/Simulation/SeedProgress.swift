import SkeinBasics
import SkeinJSON
import SkeinSimulation

/// How far a range of seeds has come, in a file that is replaced as a whole.
struct SeedProgress {
    private let path: String?
    /// The options that decide what a seed does, and the version: another one has other runs.
    private let purpose: String
    private var next: [Scenario.Recipe: UInt64] = [:]
    private var found: [Scenario.Recipe: [UInt64]] = [:]

    /// - Throws: `SimulationError.otherProgress`; `FileError`.
    init(_ options: SimulateCommand.Options) throws {
        path = options.progress
        purpose =
            "\(Version.text) \(options.seeds) \(options.workers ?? 0) \(options.steps ?? 0) "
            + (options.faults ?? "")
        guard let path, try FileKind.at(path) != nil else { return }
        let bytes = try RegularFile.bytes(of: path, from: 0, limit: 1 << 20)
        // What is no JSON is no progress either.
        guard let json = try? JSONReader.read(bytes, .foundation),
            json["purpose"]?.string == purpose
        else { throw SimulationError.otherProgress(path: path) }
        for recipe in Scenario.Recipe.allCases {
            guard let state = json[recipe.rawValue] else { continue }
            guard let next = state["next"]?.integer, next > 0,
                let seeds = state["failed"]?.list?.map(\.integer),
                seeds.allSatisfy({ $0.map { $0 > 0 && $0 < next } == true })
            else { throw SimulationError.otherProgress(path: path) }
            self.next[recipe] = UInt64(next)
            found[recipe] = seeds.compactMap { $0.map { UInt64($0) } }
        }
    }

    /// The first seed that is not done.
    func first(_ recipe: Scenario.Recipe, of seeds: ClosedRange<UInt64>) -> UInt64 {
        max(next[recipe] ?? 0, seeds.lowerBound)
    }

    /// Those of the seeds that are done that have failed.
    func failures(_ recipe: Scenario.Recipe) -> [UInt64] { found[recipe] ?? [] }

    /// Notes that all seeds before `next` are done, and which of them have failed. Those from `next` on
    /// are run again.
    mutating func note(_ recipe: Scenario.Recipe, next: UInt64, failed: [UInt64]) throws {
        self.next[recipe] = next
        found[recipe] = failed.filter { $0 < next }
        guard let path else { return }
        var fields = [JSONField(name: "purpose", value: .text(purpose))]
        for recipe in Scenario.Recipe.allCases {
            guard let next = self.next[recipe] else { continue }
            fields.append(
                JSONField(
                    name: recipe.rawValue,
                    value: .fields([
                        ("next", .integer(Int(next))),
                        ("failed", .list((found[recipe] ?? []).map { .integer(Int($0)) })),
                    ])))
        }
        try AtomicFile.write(JSONValue.object(fields).written + "\n", to: path)
    }
}
