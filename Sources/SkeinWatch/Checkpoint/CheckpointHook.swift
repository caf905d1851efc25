import Foundation
import SkeinBasics
import SkeinLaunch

/// Runs a shell command after each checkpoint is durable (`--on-checkpoint`), one at a time, beside
/// the run.
///
/// While one runs, later checkpoints wait, and only the newest of them is told: a slow upload never
/// makes a queue. Its output goes to the log, its failure is a warning.
final class CheckpointHook: Sendable {
    private let running: Condition<CheckpointCommand.Running>
    private let queue: WorkQueue<CheckpointCommand.Checkpoint>?
    private let log: Log

    /// - Parameters:
    ///   - command: for `/bin/sh -c`.
    ///   - output: the run's directory.
    ///   - log: takes the command's output.
    init(command: String, output: String, log: Log) {
        self.log = log
        running = Condition(CheckpointCommand.Running())
        let command = CheckpointCommand(
            command: command, output: output, log: log, running: running)
        queue = WorkQueue("skein-checkpoints", room: .droppingOldest(1)) { command.run(after: $0) }
        if queue == nil {
            log.warning("--on-checkpoint: the system refuses a thread; the command is not run")
        }
    }

    /// Tells of a checkpoint; returns at once.
    func run(step: Int, path: String) {
        let checkpoint = CheckpointCommand.Checkpoint(step: step, path: path)
        if case .dropped(let skipped) = queue?.give(checkpoint) {
            log.info(
                "--on-checkpoint: step \(skipped.step) is left out, since the command for an earlier "
                    + "one still runs")
        }
    }

    /// Waits until the command for the last checkpoint has ended; after `Limits.commandEnding` it is
    /// ended.
    func finish() {
        guard let queue else { return }
        let now = ContinuousClock.now
        guard queue.finish(until: now + .seconds(1)) > 0 else { return }
        log.info(
            "waiting for the command of --on-checkpoint, for at most "
                + Figures.seconds(Limits.commandEnding / .seconds(1)))
        guard queue.finish(until: now + Limits.commandEnding) > 0 else { return }
        queue.close(droppingWaiting: true)
        log.warning("the command of --on-checkpoint still runs and is ended")
        let group = running.change { running in
            running.isOver = true
            return running.group
        }
        if let group { kill(-group, SIGTERM) }
    }
}

/// What the hook's thread does.
private struct CheckpointCommand: Sendable {
    struct Checkpoint: Sendable {
        let step: Int
        let path: String
    }

    struct Running: Sendable {
        /// The process group that runs now.
        var group: pid_t?
        /// Whether one that has just begun is ended, too.
        var isOver = false
    }

    let command: String
    let output: String
    let log: Log
    let running: Condition<Running>

    func run(after checkpoint: Checkpoint) {
        do {
            try start(checkpoint)
        } catch {
            let why = (error as? any Explained)?.explanation.what ?? "\(error)"
            log.warning("--on-checkpoint, step \(checkpoint.step): \(why)")
        }
    }

    /// Runs the command to its end.
    private func start(_ checkpoint: Checkpoint) throws {
        let ends = try ChildProcess.closingPipe()
        defer { close(ends.reading) }
        let child: ChildProcess
        do {
            defer { close(ends.writing) }
            child = try ChildProcess.start(
                ["/bin/sh", "-c", command], output: ends.writing, error: ends.writing,
                isHeld: false,
                variables: [
                    "SKEIN_STEP": String(checkpoint.step), "SKEIN_CHECKPOINT": checkpoint.path,
                    "SKEIN_OUTPUT": output,
                ])
        }
        let isOver = running.change { running in
            running.group = child.identifier
            return running.isOver
        }
        if isOver { kill(-child.identifier, SIGTERM) }
        defer { running.change { $0.group = nil } }
        let ending = follow(child, ends.reading)
        child.closeStreams()
        if ending != .exited(0) {
            log.warning(
                "the command of --on-checkpoint for step \(checkpoint.step) ended with "
                    + ending.text)
        }
    }

    /// Logs what a child prints until it has ended, and what stands in the pipe then: what it has left
    /// in the background is not waited for, and gets SIGPIPE if it prints on.
    private func follow(_ child: ChildProcess, _ descriptor: Int32) -> ChildProcess.Ending {
        var lines = OutputLines { [log] in log.info("on-checkpoint: \($0)") }
        var isOpen = true
        var ending: ChildProcess.Ending?
        /// Readings of what a pipe holds: 64 KiB.
        var rest = 4
        while true {
            if ending == nil { ending = child.ending() }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let found = poll(&request, isOpen ? 1 : 0, 50)
            if found > 0 {
                isOpen = lines.read(descriptor)
                if ending != nil { rest -= 1 }
            }
            if let ending, found <= 0 || rest <= 0 {
                lines.finish()
                return ending
            }
        }
    }
}

/// Cuts what a program prints into lines of a bounded length.
private struct OutputLines {
    private var line: [UInt8] = []
    private var lines = 0
    private let take: (String) -> Void

    init(_ take: @escaping (String) -> Void) {
        self.take = take
    }

    /// Reads what is there; false at the end.
    mutating func read(_ descriptor: Int32) -> Bool {
        var room = [UInt8](repeating: 0, count: 16 << 10)
        let count = room.withUnsafeMutableBytes {
            Foundation.read(descriptor, $0.baseAddress, $0.count)
        }
        guard count > 0 else { return count < 0 && errno == EINTR }
        for byte in room[..<count] {
            if byte == 0x0A { finish() } else if line.count < Limits.lineBytes { line.append(byte) }
        }
        return true
    }

    /// Without the control characters that a terminal would obey.
    private static func shown(_ line: [UInt8]) -> String {
        let scalars = String(decoding: line, as: UTF8.self).unicodeScalars.map {
            $0.properties.generalCategory == .control && $0 != "\t" ? "\u{FFFD}" : $0
        }
        return String(String.UnicodeScalarView(scalars))
    }

    mutating func finish() {
        guard !line.isEmpty else { return }
        if lines < Limits.commandLines { take(Self.shown(line)) }
        lines += 1
        if lines == Limits.commandLines { take("(further lines are left out)") }
        line = []
    }
}
