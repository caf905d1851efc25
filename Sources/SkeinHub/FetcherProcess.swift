import Foundation
import SkeinLaunch

/// A `skein-fetch` that was started: it is told lines and says lines. Used by one thread at a time.
package final class FetcherProcess {
    private let child: ChildProcess
    private var lines = LineBuffer()
    private var isOver = false

    /// What a fetcher says next.
    package enum News {
        case line([UInt8])
        case nothing
        /// It has ended, or closed its output.
        case end
    }

    /// - Parameters:
    ///   - program: the fetcher's path.
    ///   - arguments: its arguments.
    ///   - environment: the fetcher's variables.
    ///   - error: takes its standard error; nil: it is dropped, and a terminal's signals are not for it.
    /// - Throws: `LaunchError.notStarted`; `FileError` when there are no pipes left.
    package init(
        program: String, _ arguments: [String] = [], environment: [String: String], error: Int32?
    ) throws {
        // A name alone would be looked up in PATH.
        let path = program.contains("/") ? program : "./" + program
        // The system's network code traps on some answers: skein says so, in one sentence.
        child = try ChildProcess.talking(
            [path] + arguments,
            environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { old, new in
                error == nil ? new : old
            },
            error: error, ownGroup: error == nil)
    }

    deinit { end() }

    /// - Parameter line: at most `Limits.lineBytes`.
    /// - Returns: false when the fetcher is gone.
    package func tell(_ line: [UInt8]) -> Bool { child.tell(line) }

    /// Whether it says something, or has ended.
    package func isHeard(within time: Duration) -> Bool {
        var request = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, Int32((time / .milliseconds(1)).rounded(.up))) > 0
    }

    /// The next line; waits once, for at most `time`.
    ///
    /// - Throws: `HubError`.
    package func news(within time: Duration) throws(HubError) -> News {
        if let line = try lines.next() { return .line(line) }
        guard isHeard(within: time) else { return .nothing }
        guard try lines.fill(from: child.output) else { return .end }
        return try lines.next().map { .line($0) } ?? .nothing
    }

    /// How it ended, once it has said all.
    package func ending() -> ChildProcess.Ending? {
        isOver = true
        child.closeStreams()
        return child.ending(waits: true)
    }

    /// Kills it, unless it has ended.
    package func end() {
        guard !isOver else { return }
        isOver = true
        child.end()
    }
}
