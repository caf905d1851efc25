import Foundation
import SkeinBasics

/// Shows on standard error how far a download is: a line that is rewritten on a terminal, else a
/// line every ten seconds.
struct HubProgress {
    private let io: CommandIO
    private let name: String
    private let began: ContinuousClock.Instant
    private var last: ContinuousClock.Instant?
    private var first: Int?
    private var isLineOpen = false

    init(_ io: CommandIO, name: String, now: ContinuousClock.Instant = .now) {
        self.io = io
        self.name = name
        began = now
    }

    private var rewrites: Bool { io.isTerminal && io.log.format == .text }

    mutating func show(done: Int, total: Int, now: ContinuousClock.Instant = .now) {
        // Nothing is known before the repository's files are listed.
        guard total > 0 else { return }
        let start = first ?? done
        first = start
        let pause: Duration = rewrites ? .milliseconds(200) : .seconds(10)
        if let last, now - last < pause { return }
        last = now
        let text = Self.text(
            name: name, done: done, total: total, start: start, elapsed: now - began)
        if rewrites {
            io.writeError("\r\u{1b}[K" + text)
            isLineOpen = true
        } else if io.log.format == .text {
            io.writeError(text + "\n")
        } else {
            io.writeError(
                JSONLine([
                    ("level", .string("info")), ("message", .string("download")),
                    ("model", .string(name)), ("bytes", .integer(done)),
                    ("total_bytes", .integer(total)),
                ]).text + "\n")
        }
    }

    /// `ORG/NAME  98.4 MB/270 MB  12.1 MB/s  ETA 14s`.
    static func text(
        name: String, done: Int, total: Int, start: Int, elapsed: Duration
    ) -> String {
        var parts = [name, "\(Figures.bytes(done))/\(Figures.bytes(total))"]
        let seconds = elapsed / .seconds(1)
        if done > start, seconds > 0 {
            let pace = Double(done - start) / seconds
            parts.append(Figures.rate(pace, unit: "B"))
            let left = Double(max(0, total - done)) / pace
            // Longer is no estimate, and a server's sizes may be anything.
            if left < 30 * 86_400 { parts.append("ETA \(ProgressLine.duration(.seconds(left)))") }
        }
        return parts.joined(separator: "  ")
    }

    /// Ends the rewritten line.
    mutating func finish() {
        guard isLineOpen else { return }
        io.writeError("\n")
        isLineOpen = false
    }
}
