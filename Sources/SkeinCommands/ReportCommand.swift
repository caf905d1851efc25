import Foundation
import SkeinBasics
import SkeinWatch

/// `skein report`: runs side by side, for people who were not there.
struct ReportCommand: Command {
    enum Format: String, CaseIterable, Sendable { case html, markdown }

    /// More do not fit side by side.
    private static let mostRuns = 16

    static let format = Option<Format>(
        "format", .choice, default: "html",
        "one HTML page, or Markdown as for $GITHUB_STEP_SUMMARY")
    static let output = Option.optional(
        "output", .path("FILE"), absent: "standard output", "file to write")

    static let table = ArgumentTable(
        command: "report",
        summary: "writes one page about runs: curves, differences, time, samples",
        positional: Positional(
            "RUN", count: .oneOrMore, isPath: true, "the runs' directories, at most \(mostRuns)"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    format.description, output.description, SharedFlags.logFormat.description,
                ])
        ],
        example: "skein report run other-run --output report.html")

    private let paths: [String]
    private let format: Format
    private let output: String?

    init(_ arguments: ParsedArguments) throws {
        paths = arguments.positionals.map(FilePath.trimmed)
        format = arguments[Self.format]
        output = arguments[Self.output]
        guard paths.count <= Self.mostRuns else {
            throw UsageError.tooManyPositionals(
                "RUN", most: Self.mostRuns, command: Self.table.command)
        }
    }

    func run(_ io: CommandIO) throws {
        let runs = try zip(paths, Self.names(paths)).map { try ReportedRun(path: $0, name: $1) }
        let text =
            switch format {
            case .html: ReportPage.html(runs)
            case .markdown: ReportMarkdown.text(runs)
            }
        guard let output else { return try io.print(text) }
        try AtomicFile.write(text + "\n", to: output)
        io.log.info("report: \(output)")
    }

    /// The last parts of paths; whole paths where these are the same; numbers where those are, too.
    static func names(_ paths: [String]) -> [String] {
        let last = paths.map { path in
            let name = FilePath.name(of: path)
            return name.isEmpty || name == "." || name == ".."
                ? URL(fileURLWithPath: path).standardized.lastPathComponent : name
        }
        var seen: [String: Int] = [:]
        return zip(paths, last).map { path, name in
            let name = last.count { $0 == name } > 1 ? path : name
            seen[name, default: 0] += 1
            let number = seen[name] ?? 1
            return number > 1 ? "\(name) (\(number))" : name
        }
    }
}
