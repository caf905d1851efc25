import Foundation
import SkeinBasics
import SkeinLaunch

/// A real process of `skein`, its two streams kept in files.
///
/// Its cache is empty and its own. Whoever starts one ends
/// it: a process that still runs when the object goes is killed.
package final class SkeinProcess {
    /// How a process ended.
    package struct Ending: Sendable {
        /// The exit status, or 128 + the signal that ended it, as a shell counts.
        package var status: Int32
        package var wasKilled: Bool
        package var output: String
        package var error: String
    }

    /// For how many seconds somebody waits for what takes milliseconds: a limit for what never
    /// happens, far beyond what a machine needs that does something else, too.
    package static let patience = 300.0

    /// What an error calls it.
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
    ///   - name: what an error calls it; nil: the command.
    ///   - isHeld: whether it ends when this process does, however that ends; else its standard input
    ///     is empty.
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
            // A temporary directory that stays is nobody's failure.
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

    /// The whole lines of standard error since the last call.
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

    /// Waits so long for the process to end by itself, then kills it: it writes nothing any more.
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

    /// The last lines of standard error, for whoever asks why it ended.
    var lastLines: [String] {
        errorText.split(separator: "\n").suffix(20).map { "[\(name)] \($0)" }
    }

    /// Throws `BenchError.memberFailed` for one that has ended otherwise than with 0.
    func demandSuccess() throws {
        guard !isRunning, let ended, ended != .exited(0) else { return }
        var status = ExitStatus.internalError
        if case .exited(let code) = ended { status = ExitStatus(rawValue: code) ?? status }
        throw BenchError.memberFailed(
            name: name, ending: ended.text, status: status, lines: lastLines)
    }
}
