import Foundation

/// Tells a thread that hangs from one that works for long. Pure: observations in.
///
/// A thread that is well comes by now and then (`pass`); but a long piece of work or a slow disk may
/// keep it away for an hour. So this process also counts as moving when one of its threads that do
/// the work has used the processor, or waits for a disk. What remains is a process that waits for
/// itself: a dead-lock. (A file system in user space that hangs looks like one.)
package struct Stillness: Sendable {
    /// After how long nothing moves any more.
    package static let limit = Limits.stillness

    /// When something last moved.
    package private(set) var moved: Duration
    private var ticks: UInt64 = 0

    package init(now: Duration) {
        moved = now
    }

    /// - Parameters:
    ///   - passed: when the thread last came by.
    ///   - activity: what the threads do; nil where the system does not tell, which counts as moving.
    ///   - now: the time.
    package mutating func note(passed: Duration, activity: ThreadActivity?, now: Duration) {
        moved = max(moved, passed)
        guard let activity else {
            moved = now
            return
        }
        if activity.waitsForDisk || activity.ticks != ticks { moved = now }
        ticks = activity.ticks
    }
}

/// What the threads of this process that do its work have done.
package struct ThreadActivity: Sendable, Equatable {
    /// Processor time since they began, in the system's ticks (10 ms).
    var ticks: UInt64 = 0
    /// Whether one of them waits where nothing but the kernel can wake it (state D of ps).
    var waitsForDisk = false

    /// Threads that run even if the work stands still: heartbeats, the page, the log, this watch.
    private static let idle: Set<String> = [
        "skein-network", "skein-http", "skein-log", "skein-service", "skein-local", "skein-parent",
        "skein-join", "skein-roll-call",
    ]

    /// This process at this moment, of /proc; nil where there is none.
    package static var now: ThreadActivity? {
        // Without /proc no stillness is seen, and a worker is not ended for it.
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        else { return nil }
        var activity = ThreadActivity()
        for name in names {
            // A thread may have ended meanwhile.
            guard let data = FileManager.default.contents(atPath: "/proc/self/task/\(name)/stat")
            else { continue }
            activity.add(String(decoding: data, as: UTF8.self))
        }
        return activity
    }

    /// Adds a thread.
    ///
    /// - Parameter stat: its line, see proc(5); the name in parentheses may hold anything.
    mutating func add(_ stat: String) {
        guard let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")"),
            open < close,
            !Self.idle.contains(String(stat[stat.index(after: open)..<close]))
        else { return }
        let fields = stat[stat.index(after: close)...].split(separator: " ")
        guard fields.count > 12, let user = UInt64(fields[11]), let system = UInt64(fields[12])
        else { return }
        ticks &+= user &+ system
        if fields[0] == "D" { waitsForDisk = true }
    }
}
