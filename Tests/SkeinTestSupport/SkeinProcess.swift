import Foundation

/// A real process of the `skein` that was built beside the tests, its two streams kept in files.
///
/// Its cache is empty and its own, unless `shell` sets another `SKEIN_CACHE`.
///
/// A process that still runs when the object goes is killed.
package final class SkeinProcess {
    /// How a process ended.
    package struct Ending: Sendable {
        /// The exit status, or 128 + the signal that ended it, as a shell counts.
        package var status: Int32
        package var wasKilled: Bool
        package var output: String
        package var error: String
    }

    package enum Failure: Error {
        case noBinary(searched: String)
        /// `what` did not happen in time; `error` is what the process had written until then.
        case deadline(what: String, arguments: [String], error: String)
    }

    /// How many seconds a test waits for what takes milliseconds: a limit for what never happens,
    /// far beyond what a busy machine needs.
    package static let patience = 300.0

    private let process = Process()
    private let arguments: [String]
    private let directory: URL
    private let output: FileHandle
    private let error: FileHandle

    /// The binary that was built with the tests.
    package static var binary: String {
        get throws {
            var directory = URL(fileURLWithPath: Bundle.main.executablePath ?? "")
            // The test bundle is a file beside the binary on Linux and a folder on macOS.
            for _ in 0..<4 {
                directory.deleteLastPathComponent()
                let file = directory.appendingPathComponent("skein").path
                var isDirectory: ObjCBool = false
                if FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory),
                    !isDirectory.boolValue
                {
                    return file
                }
            }
            throw Failure.noBinary(searched: Bundle.main.executablePath ?? "")
        }
    }

    /// Starts `skein` with `arguments`.
    ///
    /// - Parameters:
    ///   - arguments: the words after `skein`.
    ///   - shell: a line of `sh` that runs first; it gets the binary and the arguments as "$@",
    ///     for instance `ulimit -f 10; exec "$@"`. nil starts the binary itself.
    /// - Throws: `Failure.noBinary`, and what the system says.
    package init(_ arguments: [String], shell: String? = nil) throws {
        self.arguments = arguments
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("skein-process-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        output = try Self.file(directory.appendingPathComponent("output"))
        error = try Self.file(directory.appendingPathComponent("error"))
        let binary = try Self.binary
        if let shell {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", shell, "sh", binary] + arguments
        } else {
            process.executableURL = URL(fileURLWithPath: binary)
            process.arguments = arguments
        }
        process.environment = ProcessInfo.processInfo.environment.merging([
            "SKEIN_CACHE": directory.appendingPathComponent("cache").path
        ]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = error
        try process.run()
    }

    deinit {
        end()
        // A temporary directory that stays does not fail a test.
        try? FileManager.default.removeItem(at: directory)
    }

    private static func file(_ url: URL) throws -> FileHandle {
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }

    /// Standard error so far.
    package var errorText: String { text("error") }

    package var identifier: Int32 { process.processIdentifier }

    package var isRunning: Bool { process.isRunning }

    private func text(_ name: String) -> String {
        let path = directory.appendingPathComponent(name).path
        return String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    /// Sends a signal, if the process still runs.
    package func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// Kills the process and waits until it is gone, so that it writes nothing more.
    private func end() {
        guard process.isRunning else { return }
        send(SIGKILL)
        process.waitUntilExit()
    }

    /// Blocks until standard error contains `text` or the process has ended.
    package func waitForError(_ text: String, seconds: Double = SkeinProcess.patience) throws {
        try wait(seconds, for: "\"\(text)\"") { errorText.contains(text) || !process.isRunning }
    }

    /// Blocks until the process has ended.
    ///
    /// - Throws: `Failure.deadline` after `seconds`; the process is then killed.
    package func wait(seconds: Double = SkeinProcess.patience) throws -> Ending {
        try wait(seconds, for: "the end") { !process.isRunning }
        process.waitUntilExit()
        let wasKilled = process.terminationReason == .uncaughtSignal
        return Ending(
            status: wasKilled ? 128 + process.terminationStatus : process.terminationStatus,
            wasKilled: wasKilled, output: text("output"), error: text("error"))
    }

    private func wait(_ seconds: Double, for what: String, _ isDone: () -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !isDone() {
            guard ContinuousClock.now < deadline else {
                end()
                throw Failure.deadline(what: what, arguments: arguments, error: errorText)
            }
            Thread.sleep(forTimeInterval: 0.002)
        }
    }

    /// Runs `skein` to its end.
    package static func run(
        _ arguments: [String], shell: String? = nil, seconds: Double = SkeinProcess.patience
    ) throws -> Ending {
        try SkeinProcess(arguments, shell: shell).wait(seconds: seconds)
    }
}
