import Foundation
import SkeinJSON

/// Lines on their way to a file, pipe or terminal that may not take them: callers put a line here
/// and go on; a thread of the queue writes it and waits.
///
/// A terminal that was stopped with Ctrl-S, or a pipe whose reader hangs, would otherwise stop the
/// thread that keeps a cluster's connections alive. The queue is bounded: lines that do not fit are
/// dropped and counted, and the count is reported when there is room again. Not a `WorkQueue`: its room
/// is bytes, what is dropped is the newest, and a panel is drawn between lines.
package final class LogQueue: @unchecked Sendable {
    // `state` is used only under `condition`; hence Sendable.
    private let condition = TimedCondition()
    private var state = State()
    private let descriptor: Int32
    private let byteLimit: Int

    /// 1 MiB is about 8,000 lines: an hour of a run with a step every half second.
    package static let standardError = LogQueue(descriptor: STDERR_FILENO, byteLimit: 1 << 20)

    private enum Item {
        case text([UInt8])
        case endOfPanel
    }

    private struct State {
        var lines: [Item] = []
        /// What stands below the lines, if standard error is a terminal.
        var panel: (any LogPanel)?
        var wantsDrawing = false
        var endsPanel = false
        /// Lines and drawings before that wait, so that many lines are one drawing.
        var nextDrawing = ContinuousClock.now
        /// The first of `lines` that the writer has not taken.
        var next = 0
        var byteCount = 0
        /// How many lines the writer has taken.
        var taken = 0
        /// `taken` when a wait in `settle` last timed out.
        var stuckAt: Int?
        var isWriting = false
        var writer = Writer.none
        var droppedCount = 0
        var isDropping = false
        /// Whether the dropped lines were JSON; then the report of them is, too.
        var dropsJSON = false

        var isEmpty: Bool { next == lines.count }
    }

    /// Ten drawings a second at most, each with lines of about that size at most.
    private static let drawingInterval = Duration.milliseconds(100)
    private static let mostBytesOfDrawing = 64 << 10

    private enum Writer { case none, running, refused }

    /// - Parameters:
    ///   - descriptor: where the lines go; it stays open.
    ///   - byteLimit: the most bytes that may wait. Urgent lines may take as much again.
    package init(descriptor: Int32, byteLimit: Int) {
        self.descriptor = descriptor
        self.byteLimit = byteLimit
    }

    /// Hands a text over; never waits for its reader.
    ///
    /// - Parameters:
    ///   - text: usually whole lines.
    ///   - isUrgent: it is one of the last to be dropped.
    package func put(_ text: String, isUrgent: Bool = false) {
        let bytes = Array(text.utf8)
        let isTaken = condition.withLock {
            startWriter()
            guard state.writer == .running else { return false }
            // After one drop, others follow until half of the queue is free: a slow reader gets a
            // few long gaps, not one after every line.
            if state.isDropping, state.byteCount <= byteLimit / 2 { state.isDropping = false }
            let limit = isUrgent ? 2 * byteLimit : state.isDropping ? 0 : byteLimit
            guard state.isEmpty || state.byteCount + bytes.count <= limit else {
                state.isDropping = true
                state.droppedCount += 1
                state.dropsJSON = text.utf8.first == UInt8(ascii: "{")
                return true
            }
            if !state.isDropping { tellDropped() }
            append(bytes)
            return true
        }
        // Without a writer thread there is nothing to hand over to.
        if !isTaken { write(bytes) }
    }

    /// Shows `panel` below the lines from now on.
    package func begin(_ panel: any LogPanel) {
        condition.withLock {
            startWriter()
            state.panel = panel
        }
    }

    /// Has the panel drawn again, once the lines before it are written; never waits.
    package func drawPanel() {
        condition.withLock {
            guard state.panel != nil else { return }
            state.wantsDrawing = true
            condition.broadcast()
        }
    }

    /// Removes the panel after the lines that wait; never waits itself.
    package func endPanel() {
        condition.withLock {
            guard state.panel != nil, state.writer == .running else { return }
            state.lines.append(.endOfPanel)
            state.endsPanel = true
            condition.broadcast()
        }
    }

    /// Waits until all that was put is written.
    ///
    /// - Returns: false when `time` was too short.
    @discardableResult
    package func flush(within time: Duration) -> Bool {
        let deadline = ContinuousClock.now + time
        return condition.withLock {
            while !isDone {
                guard condition.wait(until: deadline) else { return isDone }
            }
            return true
        }
    }

    /// Like `flush`, but does not wait again for a reader that has already timed out.
    package func settle(within time: Duration) {
        let isStuck = condition.withLock { state.stuckAt == state.taken }
        if isStuck || flush(within: time) { return }
        condition.withLock { state.stuckAt = state.taken }
    }

    private var isDone: Bool {
        state.isEmpty && !state.isWriting && state.droppedCount == 0
    }

    private func append(_ bytes: [UInt8]) {
        state.lines.append(.text(bytes))
        state.byteCount += bytes.count
        condition.broadcast()
    }

    private func tellDropped() {
        guard state.droppedCount > 0 else { return }
        let sentence = "\(state.droppedCount) log lines were dropped because they were not read"
        let line =
            state.dropsJSON
            ? JSONValue.fields([
                ("level", .text(Log.Level.warning.rawValue)), ("message", .text(sentence)),
                ("left_out", .integer(state.droppedCount)),
            ]).written : "warning: " + sentence
        state.droppedCount = 0
        append(Array((line + "\n").utf8))
    }

    /// Call with the lock held.
    private func startWriter() {
        guard state.writer == .none else { return }
        let queue = Unmanaged.passRetained(self)
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, nil, { runLogQueue($0) }, queue.toOpaque())
            if let thread { pthread_detach(thread) }
        #else
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil, { $0.flatMap { runLogQueue($0) } }, queue.toOpaque())
            if code == 0 { pthread_detach(thread) }
        #endif
        if code != 0 { queue.release() }
        state.writer = code == 0 ? .running : .refused
    }

    /// The writer's loop; runs as long as the process.
    fileprivate func run() {
        while true { write(takeNext()) }
    }

    /// The next bytes, made by the panel if there is one; waits for them.
    private func takeNext() -> [UInt8] {
        let (item, panel): (Item?, (any LogPanel)?) = condition.withLock {
            state.isWriting = false
            if state.isEmpty { tellDropped() }
            condition.broadcast()
            while state.isEmpty, !state.wantsDrawing { condition.wait() }
            while state.panel != nil, !state.endsPanel, ContinuousClock.now < state.nextDrawing {
                _ = condition.wait(until: state.nextDrawing)
            }
            state.taken += 1
            state.isWriting = true
            let panel = state.panel
            if panel != nil { state.nextDrawing = .now + Self.drawingInterval }
            // A text is drawn with the panel.
            state.wantsDrawing = false
            guard !state.isEmpty else { return (nil, panel) }
            var item = takeItem()
            while panel != nil, case .text(let bytes) = item, bytes.count < Self.mostBytesOfDrawing,
                !state.isEmpty, case .text = state.lines[state.next],
                case .text(let more) = takeItem()
            {
                item = .text(bytes + more)
            }
            if case .endOfPanel = item { (state.panel, state.endsPanel) = (nil, false) }
            return (item, panel)
        }
        return switch item {
        case .text(let bytes): panel?.bytes(writing: bytes) ?? bytes
        case .endOfPanel: panel?.closingBytes() ?? []
        case nil: panel?.bytes(writing: nil) ?? []
        }
    }

    /// Call with the lock held and an item there.
    private func takeItem() -> Item {
        let item = state.lines[state.next]
        state.next += 1
        if case .text(let bytes) = item { state.byteCount -= bytes.count }
        // Not after every line, which would move all the others each time.
        if state.isEmpty || state.next == 1024 {
            state.lines.removeFirst(state.next)
            state.next = 0
        }
        return item
    }

    /// Writes a line in one `write`, so that lines of several processes do not mix.
    private func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if errno != EINTR {
                // A closed standard error is no reason to stop a run, and there is nowhere left to
                // report it.
                return
            }
        }
    }
}

private func runLogQueue(_ queue: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Thread.current.name = "skein-log"
    Unmanaged<LogQueue>.fromOpaque(queue).takeUnretainedValue().run()
    return nil
}
