import Foundation
import SkeinBasics
import SkeinHub
import SkeinJSON

/// Shows on standard error how far a download is: a line that is rewritten on a terminal, else a
/// line every ten seconds.
struct HubProgress {
    private let io: CommandIO
    private let name: String
    private let began: ContinuousClock.Instant
    private var last: ContinuousClock.Instant?
    private var latest: FetchMessage?
    private var isLineOpen = false

    init(_ io: CommandIO, name: String, now: ContinuousClock.Instant = .now) {
        self.io = io
        self.name = name
        began = now
    }

    private var rewrites: Bool { io.isTerminal && io.log.format == .text }

    mutating func show(_ message: FetchMessage, now: ContinuousClock.Instant = .now) {
        latest = message
        let pause: Duration = rewrites ? .milliseconds(200) : .seconds(10)
        if let last, now - last < pause { return }
        last = now
        write(message, now)
    }

    private mutating func write(_ message: FetchMessage, _ now: ContinuousClock.Instant) {
        let text: String
        var facts: [(String, JSONValue)] = [("model", .text(name))]
        switch message {
        case .progress(let done, let total, let received):
            // Nothing is known before the repository's files are listed.
            guard total > 0 else { return }
            text = Self.text(
                name: name, done: done, total: total, received: received, elapsed: now - began)
            facts += [("bytes", .integer(done)), ("total_bytes", .integer(total))]
        case .waiting(let file):
            text = "\(name)  waiting for another process that downloads \(file)"
            facts.append(("waiting_for", .text(file)))
        default: return
        }
        if rewrites {
            io.writeError("\r\u{1b}[K" + text)
            isLineOpen = true
        } else if io.log.format == .text {
            io.writeError(text + "\n")
        } else {
            let head: [(String, JSONValue)] = [
                ("level", .text("info")), ("message", .text("download")),
            ]
            io.writeError(JSONValue.fields(head + facts).written + "\n")
        }
    }

    /// `ORG/NAME  98.4 MB/270 MB  12.1 MB/s  ETA 14s`.
    static func text(
        name: String, done: Int, total: Int, received: Int, elapsed: Duration
    ) -> String {
        var parts = [name, "\(Figures.bytes(done))/\(Figures.bytes(total))"]
        let seconds = elapsed / .seconds(1)
        if received > 0, seconds > 0 {
            let pace = Double(received) / seconds
            parts.append(Figures.rate(pace, unit: "B"))
            let left = Double(max(0, total - done)) / pace
            // Longer is no estimate, and a server's sizes may be anything.
            if left < 30 * 86_400 { parts.append("ETA \(ProgressLine.duration(.seconds(left)))") }
        }
        return parts.joined(separator: "  ")
    }

    /// Shows the last state, and ends the rewritten line.
    mutating func finish(now: ContinuousClock.Instant = .now) {
        if let latest, last != nil { write(latest, now) }
        guard isLineOpen else { return }
        io.writeError("\n")
        isLineOpen = false
    }
}
