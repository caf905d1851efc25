import Foundation
import SkeinBasics
import SkeinHub

/// Where models by name become paths: once, after the command line is checked and before anything
/// opens a model.
enum ModelNames {
    /// Replaces a name of the Hub by the path of the model in the cache, which may download it.
    ///
    /// - Parameters:
    ///   - arguments: A command line whose options are valid.
    ///   - io: Shows progress.
    /// - Returns: The same command line, with a path.
    /// - Throws: `HubError`.
    static func resolved(_ arguments: ParsedArguments, _ io: CommandIO) throws -> ParsedArguments {
        if arguments.table.command == InspectCommand.table.command {
            guard let text = arguments.positionals.first,
                let reference = HubModel.reference(text)
            else { return arguments }
            // A path that is mistyped may well look like a name: it downloads nothing.
            let environment = ProcessInfo.processInfo.environment
            return arguments.replacing(
                positionals: [try HubModel(environment: environment).cached(reference)])
        }
        let name = SharedFlags.model.description.name
        guard let option = arguments.table.option(named: name),
            let text = arguments.text(of: option), let reference = HubModel.reference(text)
        else { return arguments }
        return arguments.replacing(
            option: name, by: try path(of: reference, asksServer: false, io))
    }

    /// The path of a model, with progress on standard error.
    static func path(
        of reference: HubReference, asksServer: Bool, _ io: CommandIO
    ) throws -> String {
        var progress = HubProgress(io, name: reference.repository)
        defer { progress.finish() }
        return try InterruptFlag.listening { interrupt in
            try HubModel(environment: ProcessInfo.processInfo.environment).path(
                of: reference, asksServer: asksServer, isCancelled: { interrupt.isSet },
                warn: { io.log.warning($0) },
                progress: { progress.show($0) })
        }
    }
}
