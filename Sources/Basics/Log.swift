import Foundation

/// Progress and warnings on standard error; results belong on standard output.
///
/// One line per event, as text or as JSON. Writing is a single `write`, so that lines of several
/// threads do not mix.
public struct Log: Sendable {
    public enum Format: String, Sendable, CaseIterable { case text, json }
    public enum Level: String, Sendable { case info, warning, error }

    public var format: Format
    /// Writes nothing of level info.
    public var isQuiet: Bool

    public init(format: Format = .text, isQuiet: Bool = false) {
        self.format = format
        self.isQuiet = isQuiet
    }

    public func info(_ message: String, _ facts: [JSONLine.Field] = []) {
        write(.info, message, facts)
    }

    public func warning(_ message: String, _ facts: [JSONLine.Field] = []) {
        write(.warning, message, facts)
    }

    public func error(_ message: String, _ facts: [JSONLine.Field] = []) {
        write(.error, message, facts)
    }

    /// Writes one line of the given level.
    public func write(_ level: Level, _ message: String, _ facts: [JSONLine.Field] = []) {
        if isQuiet, level == .info { return }
        let line =
            switch format {
            case .text: level == .info ? message : "\(level.rawValue): \(message)"
            case .json:
                JSONLine(
                    [("level", .string(level.rawValue)), ("message", .string(message))] + facts
                ).text
            }
        Self.writeStandardError(line + "\n")
    }

    /// Writes `text` to standard error in one call.
    public static func writeStandardError(_ text: String) {
        let bytes = Array(text.utf8)
        // A closed standard error is no reason to stop a run; there is nowhere left to say so.
        _ = bytes.withUnsafeBytes { Foundation.write(2, $0.baseAddress, $0.count) }
    }
}
