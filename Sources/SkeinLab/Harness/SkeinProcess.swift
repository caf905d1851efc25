import Foundation
import SkeinBasics
import SkeinLaunch

/// A real process of `skein`, with its two streams kept in files.
///
/// It has an empty cache of its own. A process that still runs when its object goes is killed.
package final class SkeinProcess {
    /// How a process ended.
    package struct Ending: Sendable {
        /// The exit status, or 128 + the signal that ended it, as a shell counts.
        package var status: Int32
        package var wasKilled: Bool
        package var output: String
        package var error: String
    }

    /// Seconds to wait for what takes milliseconds: a limit for what never happens, far more than a
    /// busy machine needs.
    package static let patience = 300.0

    /// Its name in errors.
    let name: String
    private let program: SkeinProgram
    private let child: ChildProcess
    private let directory: String
    /// Whether the directory goes with the object.
    private let isTemporary: Bool
    private var ended: ChildProcess.Ending?
    private var lines = LinePrefixer(name: "", format: .text)
    private var bytesRead = 0

    /// Starts `skein` with `arguments`.
    ///
    /// - Parameters:
    ///   - program: what is started.
    ///   - arguments: the words after `skein`.
    ///   - name: its name in errors; nil: the command.
    ///   - isHeld: whether it ends when this process does, however that ends; otherwise its standard
    ///     input is empty.
    ///   - directory: where its streams are kept; nil: in a directory that goes with the object.
    /// - Throws: `LaunchError.notStarted`, and what the system says.
    package init(
        _ program: SkeinProgram, _ arguments: [String], name: String? = nil,
        isHeld: Bool = false, directory: String? = nil
    ) throws {
        self.program = program
        self.name = name ?? arguments.first ?? "skein"
        self.directory =
            directory
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("skein-process-\(UUID().uuidString)").path
        isTemporary = directory == nil
        try AtomicFile.makeDirectory(self.directory)
        let output = try Self.file(self.directory + "/output")
        defer { close(output) }
        let error = try Self.file(self.directory + "/error")
        defer { close(error) }
        child = try ChildProcess.start(
            [program.path] + arguments, output: output, error: error, isHeld: isHeld,
            variables: ["SKEIN_CACHE": self.directory + "/cache"])
    }

    deinit {
        end()
        child.closeStreams()
        guard isTemporary else { return }
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            // A temporary directory that stays is no failure.
        }
    }

    private static func file(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw FileError.failed(operation: "write", path: path, code: errno)
        }
        return descriptor
    }

    package var identifier: Int32 { child.identifier }

    package var isRunning: Bool {
        ended = ended ?? child.ending()
        return ended == nil
    }

    /// Standard error so far.
    package var errorText: String { text("error") }

    private func text(_ name: String) -> String {
        let data = FileManager.default.contents(atPath: directory + "/" + name)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    /// The complete lines of standard error since the last call.
    func newLines() throws -> [String] {
        guard let file = FileHandle(forReadingAtPath: directory + "/error") else { return [] }
        try file.seek(toOffset: UInt64(bytesRead))
        let bytes = try file.readToEnd() ?? Data()
        bytesRead += bytes.count
        return lines.lines(of: bytes).map(\.text)
    }

    /// Sends a signal, if the process still runs.
    package func send(_ signal: Int32) {
        if isRunning { child.send(signal) }
    }

    /// Waits `seconds` for the process to end by itself, then kills it: it writes nothing after
    /// that.
    package func end(within seconds: Double = 0) {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while isRunning, ContinuousClock.now < deadline { usleep(2000) }
        send(SIGKILL)
        while isRunning { usleep(1000) }
    }

    /// Blocks until the process has ended.
    ///
    /// - Throws: `BenchError.deadline` after `seconds`; the process is then killed.
    package func wait(seconds: Double = SkeinProcess.patience) throws -> Ending {
        try wait(seconds, for: "the end") { false }
        var (status, wasKilled): (Int32, Bool) = (0, false)
        switch ended {
        case .exited(let code)?: status = code
        case .killed(let signal)?: (status, wasKilled) = (128 + signal, true)
        case nil: break
        }
        return Ending(
            status: status, wasKilled: wasKilled, output: text("output"), error: errorText)
    }

    /// Blocks until `isDone`, or until the process has ended.
    package func wait(_ seconds: Double, for what: String, _ isDone: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while try isRunning && !isDone() {
            guard ContinuousClock.now < deadline, !program.shouldStop() else {
                end()
                if program.shouldStop() { throw BenchError.interrupted }
                throw BenchError.deadline(name: name, what: what, lines: lastLines)
            }
            usleep(2000)
        }
    }

    /// The last lines of standard error, which may say why it ended.
    var lastLines: [String] {
        errorText.split(separator: "\n").suffix(20).map { "[\(name)] \($0)" }
    }

    /// Throws `BenchError.memberFailed` if the process has ended with a status other than 0.
    func demandSuccess() throws {
        guard !isRunning, let ended, ended != .exited(0) else { return }
        var status = ExitStatus.internalError
        if case .exited(let code) = ended { status = ExitStatus(rawValue: code) ?? status }
        throw BenchError.memberFailed(
            name: name, ending: ended.text, status: status, lines: lastLines)
    }
}
