import SkeinBasics
import SkeinCommands
import SkeinJSON
import SkeinSimulation

/// `skein-lab simulate`: whole clusters in one thread each, where a seed says what goes wrong.
struct SimulateCommand: Command {
    struct Options: Sendable, Equatable {
        var seeds: ClosedRange<UInt64>
        /// nil: both.
        var recipe: Scenario.Recipe?
        var workers: Int?
        var steps: Int?
        /// A file of faults, in place of those of the seeds.
        var faults: String?
        /// Where the range is continued from, and noted.
        var progress: String?
        /// All recipes together; nil: until the range is done.
        var minutes: Int?
        var threads: Int
        /// It stops when so many have failed.
        var failures: Int
        var shrinks: Bool
        var trace: Bool
        var json: Bool
    }

    static let seeds = Option(
        "seeds", SeedFormat.range, default: "1..1000", "the seeds to run, from A to B")
    static let recipe = Option.optional(
        "recipe", ValueFormat<Scenario.Recipe>.choice, absent: "both",
        "gradients: each step sums micro-batches; local: local steps are averaged")
    static let workers = Option.optional(
        "workers", .integer(1...64), absent: "1 to 12, by the seed", "workers of each run")
    static let steps = Option.optional(
        "steps", .integer(1...10_000), absent: "those of the seed's run",
        "steps of each run")
    static let faults = Option.optional(
        "faults", .path("FILE"), absent: "those of the seed",
        "what goes wrong, a line of JSON each, as a failing seed prints it")
    static let progress = Option.optional(
        "progress", .path("FILE"), absent: "none",
        "note here which seeds are done, and go on from there when started again")
    static let minutes = Option.optional(
        "minutes", .integer(1...100_000), absent: "until all seeds are done",
        "stop after so long, with half of it for each recipe if both run")
    static let threads = Option.optional(
        "threads", .integer(1...256), absent: "all cores that may be used", "runs at a time")
    static let failures = Option(
        "failures", .integer(1...10_000), default: "10", "stop when so many have failed")
    static let shrink = Option(
        "shrink", ValueFormat<Bool>.onOff, default: "on",
        "look for fewer faults, workers and steps with which a failing seed fails, too")
    static let trace = Option.flag("trace", "print the last of what happens in each run")

    static let table = ArgumentTable(
        command: "simulate",
        summary: "runs simulated clusters, in which seeds say what goes wrong",
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    seeds.description, recipe.description, workers.description,
                    steps.description, faults.description,
                ]),
            OptionGroup(
                title: "how",
                options: [
                    progress.description, minutes.description, threads.description,
                    failures.description,
                    shrink.description, trace.description,
                    SharedFlags.json.description,
                ]),
        ],
        example: "skein-lab simulate --seeds 1..1000 --recipe local")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            seeds: arguments[Self.seeds], recipe: arguments[Self.recipe],
            workers: arguments[Self.workers], steps: arguments[Self.steps],
            faults: arguments[Self.faults], progress: arguments[Self.progress],
            minutes: arguments[Self.minutes],
            threads: arguments[Self.threads] ?? SystemProcessors.usable,
            failures: arguments[Self.failures], shrinks: arguments[Self.shrink],
            trace: arguments[Self.trace], json: arguments[SharedFlags.json])
    }

    func run(_ io: CommandIO) throws {
        let recipes = options.recipe.map { [$0] } ?? Scenario.Recipe.allCases
        var progress = try SeedProgress(options)
        var found = 0
        for recipe in recipes {
            let runs = SimulatedSeeds(options: options, recipe: recipe, faults: try readFaults())
            found += try runs.run(&progress, io)
        }
        if found > 0 { throw SimulationError.violated(found) }
    }

    private func readFaults() throws -> [Fault]? {
        guard let path = options.faults else { return nil }
        return try Fault.list(try RegularFile.bytes(of: path, from: 0, limit: 16 << 20), path: path)
    }
}

/// How a range of seeds is written.
enum SeedFormat {
    static let range = ValueFormat<ClosedRange<UInt64>>(
        placeholder: "A..B", accepted: "two numbers from 1 to 2^53, such as 1..1000, or one",
        read: { text in
            let ends = text.split(separator: ".", omittingEmptySubsequences: false)
            let isRange = ends.count == 3 && ends[1].isEmpty
            guard isRange || ends.count == 1, let first = UInt64(ends[0]),
                let last = UInt64(ends[ends.count - 1]), first > 0, first <= last, last <= 1 << 53
            else { return nil }
            return first...last
        },
        json: { .text("\($0.lowerBound)..\($0.upperBound)") })
}

/// Seeds have failed; each has been printed.
enum SimulationError: Error, Equatable {
    case violated(Int)
    /// The progress of another range, or of another recipe.
    case otherProgress(path: String)
}

extension SimulationError: Explained {
    var explanation: Explanation {
        switch self {
        case .violated(let count):
            Explanation(
                what: "\(count) of the runs broke what must hold; they are above",
                place: "skein-lab simulate",
                remedy: "run the command of one of them with --trace, and mend what it shows",
                status: .internalError)
        case .otherProgress(let path):
            Explanation(
                what: "this is the progress of other options, or no progress at all", place: path,
                remedy: "give the options with which it began, or another --progress",
                status: .usage)
        }
    }
}
