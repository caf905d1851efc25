import Foundation
import SkeinBasics
import SkeinCluster
import SkeinJSON
import SkeinLaunch
import SkeinTensors

/// A program of commands, such as `skein`: finds the command, runs it, and is the only place that
/// prints an error.
package struct CommandLineTool: Sendable {
    let program: Program
    /// In the order in which help lists them.
    let commands: [any Command.Type]

    package init(_ program: Program, commands: [any Command.Type]) {
        self.program = program
        self.commands = commands
    }

    package static let skein = CommandLineTool(
        .skein,
        commands: [
            TrainCommand.self, CoordinatorCommand.self, WorkerCommand.self, LaunchCommand.self,
            JoinCommand.self,
            StatusCommand.self, EvaluateCommand.self, GenerateCommand.self, ServeCommand.self,
            TokenizeCommand.self, DataCommand.self,
            ExportCommand.self, FuseCommand.self, InspectCommand.self, ReportCommand.self,
            SyncCommand.self, PullCommand.self, CompletionsCommand.self,
        ])

    /// What `--help all` of each command prints.
    package var pages: [String] {
        commands.map { HelpText.text(of: $0.table, by: program, isWhole: true) }
    }

    /// Exit status when the reader of standard output, such as `head`, is gone: 128 + SIGPIPE.
    private static let outputClosedStatus: Int32 = 141

    /// Runs the process's command line and returns its exit status.
    package func run(_ words: [String] = Array(CommandLine.arguments.dropFirst())) -> Int32 {
        if program.name == Program.skein.name {
            do {
                try LabProgram.takeOver(words)
            } catch {
                defer { Log.flush() }
                return report(error, .process(nil))
            }
        }
        // If the reader goes away, the write must fail instead of killing the process: a long run
        // must not end because only its first lines were wanted, as by `head`.
        signal(SIGPIPE, SIG_IGN)
        // Likewise, a write beyond the file size limit (ulimit -f, a batch system) fails.
        signal(SIGXFSZ, SIG_IGN)
        // The parent may ignore SIGCHLD, which is inherited; this process waits for its children.
        signal(SIGCHLD, SIG_DFL)
        let service = ServiceEnvironment.take()
        ParentPipe.watch()
        FreedMemory.keep()
        let status = run(words, .process(service))
        Log.flush()
        return status
    }

    func run(_ words: [String], _ io: CommandIO) -> Int32 {
        var io = io
        guard let first = words.first else {
            io.writeLastError(overview)
            return ExitStatus.usage.rawValue
        }
        do {
            try dispatch(first, words, &io)
            return ExitStatus.done.rawValue
        } catch CommandError.outputClosed {
            return Self.outputClosedStatus
        } catch {
            return report(error, io)
        }
    }

    private func report(_ error: any Error, _ io: CommandIO) -> Int32 {
        let explanation = ErrorReport.explanation(of: error, by: program)
        io.writeLastError(ErrorReport.text(of: explanation, format: io.log.format))
        return explanation.status.rawValue
    }

    /// The environment variable that limits which of the processor's instructions kernels use.
    static let levelVariable = "SKEIN_CPU_LEVEL"

    /// Applies `levelVariable`. Call it before anything computes.
    ///
    /// - Throws: `UsageError.badEnvironment`.
    static func limitProcessor(_ environment: [String: String]) throws {
        guard let name = environment[levelVariable], !name.isEmpty else { return }
        guard let level = ProcessorLevel(rawValue: name) else {
            throw UsageError.badEnvironment(
                variable: levelVariable, value: name,
                accepted: ProcessorLevel.allCases.map(\.rawValue))
        }
        level.use()
    }

    private var overview: String {
        HelpText.overview(of: commands.map { $0.table }, by: program, version: Version.text)
    }

    /// The command `help`, and what stands after it.
    private func help(_ words: ArraySlice<String>) throws -> String {
        if words.contains("--man") {
            return ManPage.text(
                of: commands.map { $0.table }, by: program, version: Version.text)
        }
        guard let name = words.first(where: { !$0.hasPrefix("-") }),
            name != ArgumentParser.wholeHelp
        else { return overview }
        return HelpText.text(
            of: try command(named: name).table, by: program,
            isWhole: words.last == ArgumentParser.wholeHelp)
    }

    private func dispatch(
        _ first: String, _ words: [String], _ io: inout CommandIO
    ) throws {
        try Self.limitProcessor(ProcessInfo.processInfo.environment)
        switch first {
        case "--version", "version", "-v", "-V":
            // An older skein prints its version for this, too.
            guard words.dropFirst().first == "--json" else {
                return try io.print("\(program.name) \(Version.text)")
            }
            return try io.print(json: MachineReport.current().fields)
        case "--help", "-h", "help":
            return try io.write(help(words.dropFirst()))
        default: break
        }
        let command = try command(named: first)
        if words.contains("--version"), words.count == 2 {
            return try io.print("\(program.name) \(Version.text)")
        }
        let arguments = try ArgumentParser.parse(Array(words.dropFirst()), by: command.table)
        if arguments[GeneralFlags.help] {
            let isWhole = arguments.positionals == [ArgumentParser.wholeHelp]
            return try io.write(
                HelpText.text(of: command.table, by: program, isWhole: isWhole))
        }
        if arguments[GeneralFlags.printConfig] { return try io.print(arguments.configurationJSON) }
        if command.table.option(named: SharedFlags.logFormat.description.name) != nil {
            io.log.format = arguments[SharedFlags.logFormat]
        }
        let (format, writeError) = (io.log.format, io.writeLastError)
        MemoryShortage.listen { shortage in
            writeError(ErrorReport.text(of: shortage.explanation, format: format))
            Log.flush()
        }
        if let record = arguments.record, let sentence = record.sentence {
            io.log.info(sentence, record.fields)
        }
        // What is wrong with the command line's words is said before anything is downloaded.
        try command.init(arguments).checkOutput()
        // The coordinator of a launch says it itself.
        if let output = arguments.emptyOutput, command != LaunchCommand.self {
            io.log.info(
                "nothing to resume in \(output): the run begins",
                [("event", .text("nothing_to_resume")), ("output", .text(output))])
        }
        let resolved = command.needsModel ? try RepositoryNames.resolved(arguments, io) : arguments
        try command.init(resolved).run(io)
    }

    private func command(named name: String) throws -> any Command.Type {
        let names = commands.map { $0.table.command }
        guard let found = commands.first(where: { $0.table.command == name }) else {
            if let advice = ForeignCommands.advice(for: name) {
                throw UsageError.foreignCommand(name, advice: advice)
            }
            throw UsageError.unknownCommand(
                name, suggestion: Words.nearest(to: name, among: names), known: names)
        }
        return found
    }
}

extension CommandIO {
    /// Writes `text` unchanged to standard output.
    package func write(_ text: String) throws {
        try writeOutput(Array(text.utf8))
    }
}

/// Renders an error for people or for readers of a JSON log.
enum ErrorReport {
    /// An error that does not explain itself is a bug in this program, not a fault of the input.
    ///
    /// - Parameters:
    ///   - error: what ended the command.
    ///   - program: the one whose command it is.
    /// - Returns: what to print.
    static func explanation(of error: any Error, by program: Program = .skein) -> Explanation {
        if let error = error as? UsageError { return error.explanation(by: program) }
        if let explained = error as? any Explained { return explained.explanation }
        return Explanation(
            what: "internal error: \(error)",
            remedy: "report it with the command line and the model's name", status: .internalError)
    }

    /// Up to three lines, or one JSON object for `--log-format json`; ends with a line break.
    static func text(of explanation: Explanation, format: Log.Format) -> String {
        switch format {
        case .text:
            var text = "error: \(explanation.what)\n"
            if !explanation.place.isEmpty { text += "  at: \(explanation.place)\n" }
            if !explanation.remedy.isEmpty { text += "  fix: \(explanation.remedy)\n" }
            return text
        case .json:
            return JSONValue.fields([
                ("level", .text("error")), ("message", .text(explanation.what)),
                ("at", .text(explanation.place)), ("fix", .text(explanation.remedy)),
                ("status", .integer(Int(explanation.status.rawValue))),
            ]).written + "\n"
        }
    }
}
