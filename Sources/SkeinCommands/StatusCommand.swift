import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinJSON

/// `skein status`: shows what a run is doing and what it waits for, as its coordinator, its page or its
/// folder tells.
struct StatusCommand: Command {
    enum Form: Sendable, Equatable {
        /// A table for people.
        case table
        /// One sentence.
        case why
        /// The report as received.
        case json
    }

    /// Who is asked.
    enum Source: Sendable, Equatable {
        case coordinator(Endpoint)
        case page(StatusPageAddress)
        case folder(String)

        /// How errors name it.
        var text: String {
            switch self {
            case .coordinator(let endpoint): endpoint.text
            case .page(let page): page.endpoint.text
            case .folder(let path): path
            }
        }
    }

    struct Options: Sendable, Equatable {
        var source: Source
        var tokenFile: String?
        var form: Form
        /// Shows it again and again until the run ends.
        var watches = false
    }

    /// Enough, since a coordinator answers from its I/O thread, which never computes.
    static let timeout = Duration.seconds(5)

    static let coordinator = Option.optional(
        "coordinator", .endpoint, absent: "RUN",
        "address of the coordinator; the default port is 7534")
    static let tokenFile = ClusterFlags.tokenFile.described(
        "file with the secret: a coordinator's (--token-file), or a page's (--status-token-file)")
    static let watch = Option.flag(
        "watch",
        "show it again every 2 s until the run ends; not on a terminal, a line for each change"
    )

    static let table = ArgumentTable(
        command: "status",
        summary: "shows what a run is doing and what it waits for",
        positional: Positional(
            "RUN", count: .optional, isPath: true,
            "the run's folder, the URL of its page (http://HOST:PORT/), or its coordinator's HOST:PORT"
        ),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    coordinator.description, tokenFile.description,
                    ClusterFlags.why.description, watch.description, SharedFlags.json.description,
                ])
        ],
        example: "skein status run --watch")

    static var needsModel: Bool { false }

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        let (why, json) = (arguments[ClusterFlags.why], arguments[SharedFlags.json])
        if why, json {
            throw UsageError.excludes(option: "why", other: "json", command: Self.table.command)
        }
        options = Options(
            source: try Self.source(arguments), tokenFile: arguments[Self.tokenFile],
            form: why ? .why : json ? .json : .table, watches: arguments[Self.watch])
    }

    private static func source(_ arguments: ParsedArguments) throws -> Source {
        switch (arguments[coordinator], arguments.positionals.first) {
        case (let endpoint?, nil):
            return .coordinator(try arguments.dialled(endpoint))
        case (nil, let text?):
            if StatusPageAddress.isMeant(by: text) {
                guard let page = StatusPageAddress(text) else {
                    throw UsageError.badPositional(
                        text, command: table.command,
                        accepted: "the URL of a run's page, such as http://127.0.0.1:8080/",
                        suggestion: nil)
                }
                return .page(page)
            }
            // A name alone is a folder: people type run, and seldom a coordinator without its port.
            guard text.contains(":"), !text.contains("/"), !DiskStore().exists(text),
                let endpoint = Endpoint(text)
            else { return .folder(text) }
            return .coordinator(try arguments.dialled(endpoint))
        case (_?, _?):
            throw UsageError.excludesPositional(
                option: coordinator.description.name, placeholder: "RUN", command: table.command)
        case (nil, nil):
            throw UsageError.missing(["RUN"], command: table.command)
        }
    }

    func run(_ io: CommandIO) throws {
        guard options.watches else { return try show(try ask(), io) }
        let watch = StatusWatch(redraws: io.coloursOutput, form: options.form)
        try watch.run(
            ask: { try view(try ask()) },
            wait: { Thread.sleep(forTimeInterval: StatusWatch.pause / .seconds(1)) },
            write: { try io.write($0) })
    }

    /// What the run tells: of a coordinator or a page, its report; nil: its folder is looked at.
    private func ask() throws -> [UInt8]? {
        let token = try options.tokenFile.map { try TokenFile(reading: $0).bytes }
        switch options.source {
        case .coordinator(let endpoint):
            return try StatusQuery.ask(
                coordinator: endpoint.text, token: token, version: Version.text,
                timeout: Self.timeout)
        case .page(let page):
            return try StatusPageQuery.ask(
                page, token: token.map { String(decoding: $0, as: UTF8.self) } ?? page.token,
                timeout: Self.timeout)
        case .folder: return nil
        }
    }

    private func view(_ report: [UInt8]?) throws -> StatusView {
        guard let report else { return StatusView(try RunFolder(path: options.source.text)) }
        do {
            return StatusView(try RunSnapshot(json: report), json: report)
        } catch is DecodingError {
            throw CommandError.badInput(.noStatus, place: options.source.text)
        }
    }

    /// Prints a report in the requested form.
    ///
    /// - Throws: `CommandError.badInput` when it is not a report.
    func show(_ report: [UInt8]?, _ io: CommandIO) throws {
        // A script gets the report unchanged, whichever version sent it.
        if options.form == .json, let report {
            let value: JSONValue?
            do {
                value = try JSONReader.read(report, .foundation)
            } catch {
                // Refused below, as JSON is that is no object.
                value = nil
            }
            guard value?.fields != nil else {
                throw CommandError.badInput(.noStatus, place: options.source.text)
            }
            return try io.writeOutput(report + [UInt8(ascii: "\n")])
        }
        let view = try view(report)
        switch options.form {
        case .table: try io.write(view.table)
        case .why: try io.print(view.why)
        case .json: try io.writeOutput(view.json + [UInt8(ascii: "\n")])
        }
    }
}
