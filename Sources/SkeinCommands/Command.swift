import Foundation
import SkeinBasics
import SkeinCluster
import SkeinJSON

/// One subcommand: the table of its arguments, the options read by it, and its work.
package protocol Command: Sendable {
    static var table: ArgumentTable { get }

    /// Whether a `--model` or an adapter that is a name of the Hub becomes a path before the command
    /// runs, which may download it.
    static var needsModel: Bool { get }

    /// Reads the options and checks what the table alone cannot.
    ///
    /// - Throws: `UsageError`.
    init(_ arguments: ParsedArguments) throws

    /// Refuses what would be refused after a long reading or a download: an output that is there.
    ///
    /// - Throws: an `Explained` error.
    func checkOutput() throws

    /// Does the work. Results go to `io`'s standard output, progress to its log.
    ///
    /// - Throws: an `Explained` error; any other is reported as our bug.
    func run(_ io: CommandIO) throws
}

extension Command {
    package static var needsModel: Bool { true }

    package func checkOutput() throws {}
}

/// What a command sees of its process; tests pass their own.
package struct CommandIO: Sendable {
    /// Progress and warnings, on standard error.
    package var log: Log
    /// Whether standard error is a terminal, where a progress line can be rewritten.
    var isTerminal: Bool
    /// Whether standard output is a terminal that shows colours.
    var coloursOutput = false
    /// Set by Ctrl-C. A command that can stop early polls it.
    package var interrupt: InterruptFlag
    /// Appends bytes to standard output. Throws `CommandError.outputClosed` or `FileError`.
    var writeOutput: @Sendable ([UInt8]) throws -> Void
    /// Appends a text to standard error.
    package var writeError: @Sendable (String) -> Void
    /// Likewise for the reason why the process ends: among the last to be dropped without a reader.
    var writeLastError: @Sendable (String) -> Void
    /// All of standard input.
    var readInput: @Sendable () throws -> [UInt8]
    /// Shows progress in place of lines for each step.
    var panel: TerminalPanel?
    /// What a service manager wants to hear; nil: none has started this process.
    var service: ServiceEnvironment?

    /// Writes `line` and a line break to standard output.
    package func print(_ line: String) throws {
        try writeOutput(Array((line + "\n").utf8))
    }

    /// Writes an object on one line to standard output.
    package func print(json fields: [(String, JSONValue)]) throws {
        try print(JSONValue.fields(fields).written)
    }

    /// The real process.
    static func process(_ service: ServiceEnvironment?) -> CommandIO {
        CommandIO(
            log: Log(), isTerminal: isatty(STDERR_FILENO) == 1,
            coloursOutput: isatty(STDOUT_FILENO) == 1
                && showsColours(ProcessInfo.processInfo.environment),
            interrupt: InterruptFlag(),
            writeOutput: {
                // On a terminal that shows both, earlier messages must appear above the results.
                LogQueue.standardError.settle(within: .milliseconds(100))
                try writeAll($0)
            },
            writeError: { Log.writeStandardError($0) },
            writeLastError: { Log.writeStandardError($0, isUrgent: true) },
            readInput: {
                try BoundedInput.read(
                    descriptor: STDIN_FILENO, name: "standard input",
                    limit: Limits.standardInputBytes)
            }, service: service)
    }

    /// As no-color.org and terminfo have it.
    private static func showsColours(_ environment: [String: String]) -> Bool {
        (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Unbuffered, so that a streamed answer appears as it is generated.
    private static func writeAll(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes {
                Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if written < 0 {
                if errno == EINTR { continue }
                if errno == EPIPE { throw CommandError.outputClosed }
                throw FileError.failed(operation: "write", path: "standard output", code: errno)
            }
            rest = rest.dropFirst(written)
        }
    }
}
