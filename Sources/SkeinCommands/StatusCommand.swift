import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinNodes

/// `skein status`: shows what a coordinator is doing and what it waits for.
struct StatusCommand: Command {
    enum Form: Sendable, Equatable {
        /// A table for people.
        case table
        /// One sentence.
        case why
        /// The report as received.
        case json
    }

    struct Options: Sendable, Equatable {
        var coordinator: Endpoint
        var tokenFile: String?
        var form: Form
    }

    /// Enough, since a coordinator answers from its I/O thread, which never computes.
    static let timeout = Duration.seconds(5)

    static let table = ArgumentTable(
        command: "status",
        summary: "shows what a coordinator is doing and what it waits for",
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    ClusterFlags.coordinator.description, ClusterFlags.tokenFile.description,
                    ClusterFlags.why.description, SharedFlags.json.description,
                ])
        ],
        example: "skein status --coordinator 10.0.0.5:7534 --token-file token --why")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        let (why, json) = (arguments[ClusterFlags.why], arguments[SharedFlags.json])
        if why, json {
            throw UsageError.excludes(option: "why", other: "json", command: Self.table.command)
        }
        options = Options(
            coordinator: try arguments.coordinator(),
            tokenFile: arguments[ClusterFlags.tokenFile],
            form: why ? .why : json ? .json : .table)
    }

    func run(_ io: CommandIO) throws {
        let token = try options.tokenFile.map { try TokenFile(reading: $0).bytes }
        let bytes = try StatusQuery.ask(
            coordinator: options.coordinator.text, token: token,
            version: Version.text, timeout: Self.timeout)
        try show(bytes, io)
    }

    /// Prints a report in the requested form.
    ///
    /// - Throws: `CommandError.badInput` when it is not a report.
    func show(_ bytes: [UInt8], _ io: CommandIO) throws {
        let snapshot: RunSnapshot
        do {
            // A script gets the report unchanged, whichever version sent it.
            if options.form == .json {
                _ = try JSONDecoder().decode([String: Ignored].self, from: Data(bytes))
                return try io.writeOutput(bytes + [UInt8(ascii: "\n")])
            }
            snapshot = try RunSnapshot(json: bytes)
        } catch is DecodingError {
            throw CommandError.badInput(.noStatus, place: options.coordinator.text)
        }
        switch options.form {
        case .table: try io.write(StatusText.table(of: snapshot))
        case .why: try io.print(StatusText.why(of: snapshot))
        case .json: break
        }
    }
}

/// A JSON value that is not looked at.
private struct Ignored: Decodable {
    init(from decoder: any Decoder) {}
}
