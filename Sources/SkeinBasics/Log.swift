import Foundation
import SkeinJSON

/// Progress and warnings on standard error; results belong on standard output.
///
/// One line per event, as text or as JSON. Logging never waits for a reader (`LogQueue`), so lines
/// may be lost: nothing that matters is said only here.
package struct Log: Sendable {
    package enum Format: String, Sendable, CaseIterable { case text, json }
    package enum Level: String, Sendable { case info, warning, error }

    package var format: Format
    /// Drops messages of level info.
    package var isQuiet: Bool

    /// Takes the messages instead of standard error.
    private let sink: (@Sendable (Level, String) -> Void)?

    package init(format: Format = .text, isQuiet: Bool = false) {
        self.format = format
        self.isQuiet = isQuiet
        sink = nil
    }

    /// A log for a program that has its own: `sink` is called on the thread that writes the line.
    package init(to sink: @escaping @Sendable (Level, String) -> Void) {
        format = .text
        isQuiet = false
        self.sink = sink
    }

    package func info(_ message: String, _ facts: [(String, JSONValue)] = []) {
        write(.info, message, facts)
    }

    package func warning(_ message: String, _ facts: [(String, JSONValue)] = []) {
        write(.warning, message, facts)
    }

    package func error(_ message: String, _ facts: [(String, JSONValue)] = []) {
        write(.error, message, facts)
    }

    /// Writes one line of the given level.
    package func write(_ level: Level, _ message: String, _ facts: [(String, JSONValue)] = []) {
        if let sink { return sink(level, message) }
        if isQuiet, level == .info { return }
        let line =
            switch format {
            case .text: level == .info ? message : "\(level.rawValue): \(message)"
            case .json:
                JSONValue.fields(
                    [("level", .text(level.rawValue)), ("message", .text(message))] + facts
                ).written
            }
        Self.writeStandardError(line + "\n", isUrgent: level == .error)
    }

    /// Hands `text` to the thread that writes standard error; never waits for its reader.
    package static func writeStandardError(_ text: String, isUrgent: Bool = false) {
        LogQueue.standardError.put(text, isUrgent: isUrgent)
    }

    /// How long an exit waits for the reader of standard error.
    package static let exitPatience = Duration.seconds(2)

    /// Waits until all messages are on standard error, without a panel. Call it before the process
    /// ends.
    package static func flush(within time: Duration = exitPatience) {
        LogQueue.standardError.endPanel()
        LogQueue.standardError.flush(within: time)
    }
}
