import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinJSON

/// Shows progress on standard error: one line that is rewritten on a terminal, else a log line for
/// each report, and nothing where a panel does.
struct ProgressDisplay: Sendable {
    private let log: Log
    private let rewrites: Bool
    private let hasPanel: Bool
    private let columns: Int
    private let write: @Sendable (String) -> Void
    private var isLineOpen = false

    /// Back to the first column, and erase to the end of the line (ECMA-48, EL).
    private static let erase = "\r\u{1b}[K"

    /// - Parameters:
    ///   - io: Where to write, and whether that is a terminal.
    ///   - columns: Width of the terminal; a longer line is cut, since a wrapped one cannot be
    ///     rewritten.
    init(_ io: CommandIO, columns: Int = ProgressDisplay.terminalColumns()) {
        log = io.log
        hasPanel = io.panel != nil
        rewrites = io.isTerminal && io.log.format == .text
        self.columns = columns
        write = io.writeError
    }

    mutating func show(_ progress: TrainingProgress, now: ContinuousClock.Instant = .now) {
        if hasPanel { return }
        let text = ProgressLine.text(progress, now: now)
        if rewrites {
            write(Self.erase + text.prefix(max(1, columns - 1)))
            isLineOpen = true
        } else if log.format == .text {
            write(text + "\n")
        } else {
            let facts: [(String, JSONValue)] = [
                ("level", .text("info")), ("message", .text("step")),
                ("step", .integer(progress.run.step)), ("steps", .integer(progress.run.stepCount)),
                ("epoch", .integer(progress.epoch)),
                ("loss", progress.run.loss.map { .decimal($0) } ?? .null),
                (
                    "tokens_per_second",
                    progress.run.tokensPerSecond.map { .decimal($0) } ?? .null
                ),
            ]
            write(JSONValue.fields(facts).written + "\n")
        }
    }

    /// Ends the rewritten line, so that other lines can follow; call it before them and at the end.
    mutating func finishLine() {
        guard isLineOpen else { return }
        write("\n")
        isLineOpen = false
    }

    /// Columns of the terminal on standard error; 80 if unknown.
    static func terminalColumns() -> Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
