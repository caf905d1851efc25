import Foundation
import SkeinBasics

/// Carries out what `Supervision` decides: starts processes, passes their lines on, signals and
/// reaps them. It uses one thread and looks at least 20 times a second.
package struct Launcher: ~Copyable {
    private let plan: LaunchPlan
    private let output: Output
    /// How often Ctrl-C was pressed.
    private let interruptCount: () -> Int
    private let began = ContinuousClock.now

    private var supervision: Supervision
    private var children: [Supervision.Member: Child] = [:]
    private var own: LinePrefixer
    /// What each wrote last on standard error: its error, if it has failed.
    private var lastWords: [Supervision.Member: String] = [:]
    /// Members whose program has started at least once.
    private var hasStarted: Set<Supervision.Member> = []
    /// Where the coordinator listens; nil until it has said so.
    private var address: String?
    private var interruptsSeen = 0
    private var verdict: Supervision.Verdict?
    private var outputIsClosed = false

    /// Where all lines go.
    package struct Output: Sendable {
        /// Appends bytes to standard output.
        var write: @Sendable ([UInt8]) throws -> Void
        /// Appends a text to standard error.
        var writeError: @Sendable (String) -> Void

        package init(
            write: @escaping @Sendable ([UInt8]) throws -> Void,
            writeError: @escaping @Sendable (String) -> Void
        ) {
            self.write = write
            self.writeError = writeError
        }
    }

    private struct Child {
        var process: ChildProcess
        var lines: LinePrefixer
        /// For a worker's standard output, which is shown like its other lines.
        var outputLines: LinePrefixer
        var outputIsOpen = true
        var errorIsOpen = true
    }

    package init(
        _ plan: LaunchPlan, computesLocally: Bool, output: Output,
        interruptCount: @escaping () -> Int
    ) {
        self.plan = plan
        self.output = output
        self.interruptCount = interruptCount
        supervision = Supervision(
            workerCount: plan.workers.count, computesLocally: computesLocally)
        own = LinePrefixer(name: "launch", format: plan.format)
    }

    /// Runs until no child is left.
    ///
    /// - Returns: how the run ended.
    /// - Throws: why a program cannot be started; all children are then killed.
    package mutating func run() throws -> Supervision.Verdict {
        defer { killAll() }
        try handle(.began)
        while true {
            waitForLines()
            for member in Array(children.keys) { try read(member) }
            for member in Array(children.keys) { try reap(member) }
            let count = interruptCount()
            while interruptsSeen < count {
                interruptsSeen += 1
                try handle(.interrupted)
            }
            try handle(.tick)
            if let verdict { return verdict }
        }
    }

    private mutating func handle(_ event: Supervision.Event) throws {
        for action in supervision.handle(event, now: ContinuousClock.now - began) {
            switch action {
            case .start(let member, let again): try start(member, again: again)
            case .terminate(let member): stop(member, isForced: false)
            case .kill(let member): stop(member, isForced: true)
            case .say(let notice):
                say(LaunchText.sentence(notice, plan: plan, lastWords: lastWords))
            case .finish(let verdict): self.verdict = verdict
            }
        }
    }

    private mutating func start(_ member: Supervision.Member, again: Bool) throws {
        let program =
            switch member {
            case .coordinator: plan.coordinator(address: address, again: again)
            case .worker(let index): plan.worker(index, address: address ?? plan.listen)
            }
        let prefixer = LinePrefixer(name: plan.name(of: member), format: plan.format)
        do {
            children[member] = Child(
                process: try ChildProcess.start(program.words, input: program.input),
                lines: prefixer, outputLines: prefixer)
            hasStarted.insert(member)
        } catch let error as LaunchError where hasStarted.contains(member) {
            // It has started before: a file system may be away for a while, or the program is being
            // replaced. The others go on, and it is tried again.
            lastWords[member] = error.explanation.what
            try handle(.ended(member, .exited(Self.notFound)))
        }
    }

    /// A shell's status for a program that it cannot find.
    private static let notFound: Int32 = 127

    private func stop(_ member: Supervision.Member, isForced: Bool) {
        guard let child = children[member] else { return }
        plan.stop(member, child.process, isForced: isForced)
    }

    /// Sleeps until a child writes something, 50 ms at most.
    private func waitForLines() {
        var descriptors: [pollfd] = []
        for child in children.values {
            if child.outputIsOpen {
                descriptors.append(
                    pollfd(fd: child.process.output, events: Int16(POLLIN), revents: 0))
            }
            if child.errorIsOpen {
                descriptors.append(
                    pollfd(fd: child.process.error, events: Int16(POLLIN), revents: 0))
            }
        }
        _ = poll(&descriptors, nfds_t(descriptors.count), 50)
    }

    /// Passes on what a child has written.
    private mutating func read(_ member: Supervision.Member) throws {
        guard var child = children[member] else { return }
        if child.outputIsOpen {
            let (bytes, isOpen) = ChildProcess.available(child.process.output)
            child.outputIsOpen = isOpen
            if member == .coordinator {
                passOn(bytes)
            } else {
                for line in child.outputLines.lines(of: bytes) { output.writeError(line.shown) }
            }
        }
        var lines: [LinePrefixer.Line] = []
        if child.errorIsOpen {
            let (bytes, isOpen) = ChildProcess.available(child.process.error)
            child.errorIsOpen = isOpen
            lines = child.lines.lines(of: bytes)
        }
        children[member] = child
        for line in lines {
            output.writeError(line.shown)
            note(line, of: member)
            guard member == .coordinator else { continue }
            switch CoordinatorLine(line.text) {
            case .listening(let address):
                self.address = address
                try handle(.listening)
            case .joined(let name):
                if let index = plan.workers.firstIndex(where: { $0.name == name }) {
                    try handle(.joined(worker: index))
                }
            case .step: try handle(.progressed)
            case .other: break
            }
        }
    }

    /// Keeps the last line that is not indented: of Skein's errors, the one that says what happened.
    private mutating func note(_ line: LinePrefixer.Line, of member: Supervision.Member) {
        if line.text.hasPrefix("  ") || line.text.isEmpty { return }
        lastWords[member] = String(line.text.prefix(LaunchText.longestWords))
    }

    /// Passes on the coordinator's results unchanged.
    private mutating func passOn(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, !outputIsClosed else { return }
        do {
            try output.write(bytes)
        } catch {
            // The run goes on without its reader; its files say the same.
            outputIsClosed = true
            say("warning: the reader of standard output is gone")
        }
    }

    private mutating func reap(_ member: Supervision.Member) throws {
        guard let ending = children[member]?.process.ending() else { return }
        // Its last words precede its end, and so does the coordinator's line that it has joined.
        try read(member)
        if member != .coordinator { try read(.coordinator) }
        if var child = children.removeValue(forKey: member) {
            for line in [child.lines.rest(), child.outputLines.rest()].compactMap({ $0 }) {
                output.writeError(line.shown)
                note(line, of: member)
            }
            child.process.closeStreams()
        }
        try handle(.ended(member, ending))
    }

    private mutating func say(_ text: String) {
        for line in own.lines(of: Array((text + "\n").utf8)) { output.writeError(line.shown) }
    }

    /// Kills all children and waits for them.
    private mutating func killAll() {
        for child in children.values {
            child.process.send(SIGKILL)
            child.process.closeStreams()
        }
        for child in children.values {
            while child.process.ending() == nil { usleep(1000) }
        }
        children = [:]
    }
}

/// Launch's own messages. Pure.
enum LaunchText {
    /// Most characters of a child's last words.
    static let longestWords = 200

    static func sentence(
        _ notice: Supervision.Notice, plan: LaunchPlan,
        lastWords: [Supervision.Member: String] = [:]
    ) -> String {
        switch notice {
        case .restarting(let member, let ending, let delay, let count, let limit):
            let seconds = Figures.seconds(delay / .seconds(1))
            let times = limit.map { "\(count) of \($0)" } ?? "attempt \(count), no limit"
            return "\(plan.name(of: member)) ended with \(ending.text); restarting in "
                + "\(seconds) (\(times))"
        case .givingUp(let member, let ending):
            return "\(plan.name(of: member)) ended with \(ending.text) and is not restarted"
                + (lastWords[member].map { "; its last words: \($0)" } ?? "")
        case .noWorkersLeft: return "no worker is left; stopping the coordinator"
        case .stopping:
            return "stopping: the coordinator finishes its step and writes a checkpoint; "
                + "interrupt again to kill all processes"
        case .killing: return "killing all processes"
        }
    }
}
