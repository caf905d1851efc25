import Foundation
import SkeinBasics
import SkeinHub
import SkeinModels
import SkeinServe
import SkeinTraining

/// Where models and adapters by name become paths: once, after the command line is checked and before
/// anything opens them.
enum RepositoryNames {
    /// Options that take a model or an adapter, in every command that has them.
    private static let options: [(name: String, kind: HubKind)] = [
        (SharedFlags.model.description.name, .model),
        (SharedFlags.adapter.description.name, .adapter),
        (InputOptions.table.initAdapter.description.name, .adapter),
    ]

    /// Replaces names of the Hub by paths in the cache, which may download what they name.
    ///
    /// - Parameters:
    ///   - arguments: A command line whose options are valid.
    ///   - io: Shows progress.
    /// - Returns: The same command line, with paths.
    /// - Throws: `HubError`; `UsageError` for an adapter without a name for it; `FileError` when there
    ///   are no pipes left.
    static func resolved(_ arguments: ParsedArguments, _ io: CommandIO) throws -> ParsedArguments {
        if arguments.table.command == InspectCommand.table.command {
            guard let text = arguments.positionals.first,
                let reference = HubInput.reference(text)
            else { return arguments }
            // A path that is mistyped may well look like a name: it downloads nothing.
            let environment = ProcessInfo.processInfo.environment
            return arguments.replacing(
                positionals: [try HubInput(environment: environment).cached(reference)])
        }
        var resolved = arguments
        for (name, kind) in options {
            guard let option = arguments.table.option(named: name),
                let text = arguments.text(of: option)
            else { continue }
            let isServed =
                kind == .adapter && arguments.table.command == ServeCommand.table.command
            let found =
                isServed
                ? try ServeCommand.adapters(in: text).map {
                    try $0.name + "=" + path($0.path, as: kind, io)
                }.joined(separator: "\n")
                : try path(text, as: kind, io)
            if found != text { resolved = resolved.replacing(option: name, by: found) }
        }
        return resolved
    }

    /// The path of what a person gave, which is its own unless it is a name of the Hub, or a run's
    /// folder where an adapter is wanted.
    ///
    /// - Throws: `HubError`; `FileError` when there are no pipes left.
    static func path(_ text: String, as kind: HubKind, _ io: CommandIO) throws -> String {
        guard let reference = HubInput.reference(text, as: kind) else {
            return kind == .adapter ? AdapterFormats.standard.place(text) : text
        }
        do {
            return try path(of: reference, as: kind, asksServer: false, io)
        } catch let error as HubError where !error.saysThatNoPath {
            io.log.info(
                "no file or folder has the path \(text), so it was taken for a name of the Hub")
            throw error
        }
    }

    /// The path of a model or an adapter, with progress on standard error.
    static func path(
        of reference: HubReference, as kind: HubKind?, asksServer: Bool, _ io: CommandIO
    ) throws -> String {
        var progress = HubProgress(io, name: reference.repository)
        defer { progress.finish() }
        return try InterruptFlag.listening { interrupt in
            try HubInput(environment: ProcessInfo.processInfo.environment).path(
                of: reference, as: kind, asksServer: asksServer,
                isCancelled: { interrupt.isSet }, warn: { io.log.warning($0) },
                progress: { progress.show($0) })
        }
    }
}
