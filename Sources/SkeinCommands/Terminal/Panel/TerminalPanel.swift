import Dispatch
import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import Synchronization

/// The panel of a run on a terminal, below the lines of the log, until it is ended.
///
/// A queue of its own asks for the run's state twice a second; the log's writer draws. Neither the
/// training loop's thread nor the network's waits for either.
final class TerminalPanel: Sendable, LogPanel {
    /// How often the run's state is asked for.
    static let interval = DispatchTimeInterval.milliseconds(500)

    private struct State: Sendable {
        var facts: PanelFacts?
        var screen = PanelScreen()
        var continued = 0
        /// What stays on the screen of the last panel.
        var lastLine: String?
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let queue: LogQueue
    private let descriptor: Int32
    private let colours: Bool
    private let unicode: Bool
    private let facts: @Sendable () -> PanelFacts
    private let work = DispatchQueue(label: "skein.panel", qos: .utility)

    /// Begins to show a run, if standard error is a terminal that can.
    ///
    /// - Parameters:
    ///   - io: The process; a JSON log has no panel.
    ///   - board: The run.
    ///   - environment: The process's: TERM, NO_COLOR and what says whether letters are UTF-8.
    /// - Returns: nil: lines are written as to a file.
    static func begin(
        _ io: CommandIO, _ board: RunBoard,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> TerminalPanel? {
        guard io.isTerminal, io.log.format == .text, moves(environment) else { return nil }
        return TerminalPanel(
            queue: .standardError, descriptor: STDERR_FILENO, environment: environment
        ) {
            PanelFacts(snapshot: board.view().snapshot, losses: board.losses)
        }
    }

    /// Whether the cursor of a terminal can be moved.
    static func moves(_ environment: [String: String]) -> Bool {
        let kind = environment["TERM"] ?? ""
        return !kind.isEmpty && kind != "dumb"
    }

    /// - Parameters:
    ///   - queue: Writes to the terminal.
    ///   - descriptor: The terminal, which tells its size.
    ///   - environment: As in `begin`.
    ///   - facts: Called on a queue of its own, where it may wait.
    init(
        queue: LogQueue, descriptor: Int32, environment: [String: String],
        facts: @escaping @Sendable () -> PanelFacts
    ) {
        (self.queue, self.descriptor) = (queue, descriptor)
        // no-color.org: set and not empty.
        colours = (environment["NO_COLOR"] ?? "").isEmpty
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }
            .first { !$0.isEmpty }
        let letters = (locale ?? "").lowercased()
        unicode = letters.contains("utf-8") || letters.contains("utf8")
        self.facts = facts
        ContinuedSignal.listen()
        queue.begin(self)
        work.async { [weak self] in self?.tick() }
    }

    /// Asks for the run's state now and from time to time, until the end.
    private func tick() {
        guard !state.withLock({ $0.hasEnded }) else { return }
        show(facts())
        work.asyncAfter(deadline: .now() + Self.interval) { [weak self] in self?.tick() }
    }

    private func show(_ facts: PanelFacts) {
        state.withLock { state in
            state.facts = facts
            if facts.snapshot.run.step > 0 { state.lastLine = Self.lastLine(facts.snapshot.run) }
        }
        queue.drawPanel()
    }

    /// Removes the panel, of which one line stays; never waits. Later calls do nothing.
    ///
    /// - Parameter run: How far the run is.
    func end(_ run: RunSnapshot.Progress? = nil) {
        state.withLock { state in
            state.hasEnded = true
            if let run, run.loss != nil { state.lastLine = Self.lastLine(run) }
        }
        queue.endPanel()
    }

    func bytes(writing text: [UInt8]?) -> [UInt8] {
        state.withLock { state in
            let continued = ContinuedSignal.count
            if state.continued != continued {
                // A shell has written below the panel meanwhile.
                state.screen.forget()
                state.continued = continued
            }
            let size = size()
            let lines =
                isInForeground
                ? state.facts.map { PanelView(size: size, unicode: unicode).lines($0) } ?? [] : []
            return Array(
                state.screen.bytes(
                    text: text.map { String(decoding: $0, as: UTF8.self) }, panel: lines,
                    size: size, colours: colours
                ).utf8)
        }
    }

    func closingBytes() -> [UInt8] {
        state.withLock { state in
            let text = state.lastLine.map { $0 + "\n" } ?? ""
            return Array(
                state.screen.bytes(text: text, panel: [], size: size(), colours: colours).utf8)
        }
    }

    private func size() -> TerminalSize {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return .usual }
        return TerminalSize(columns: min(500, Int(size.ws_col)), rows: Int(size.ws_row))
    }

    /// A process in the background only writes lines: what a person types goes to another one.
    private var isInForeground: Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    /// It has no remaining time: that of an interrupted run is not known.
    static func lastLine(_ run: RunSnapshot.Progress) -> String {
        ProgressLine.text(
            TrainingProgress(run: run, epoch: run.epoch ?? 0, began: .now, firstStep: run.step),
            now: .now)
    }
}

/// How often this process was continued (SIGCONT) after a stop.
private enum ContinuedSignal {
    private static let continued = Atomic<Int>(0)

    static var count: Int { continued.load(ordering: .relaxed) }

    static func listen() {
        // Initialized before the handler, which may do nothing but add.
        _ = count
        signal(SIGCONT) { _ in ContinuedSignal.continued.wrappingAdd(1, ordering: .relaxed) }
    }
}
