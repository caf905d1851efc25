import Foundation

/// Lines on their way to a file, pipe or terminal that may not take them: whoever has something to say
/// puts it here and goes on, and a thread of the queue's own writes and waits.
///
/// A terminal that was stopped with Ctrl-S, or a pipe whose reader hangs, would otherwise stop the
/// thread that keeps a cluster's connections alive. The queue is bounded; what does not fit is
/// dropped, counted, and told of when there is room again.
package final class LogQueue: @unchecked Sendable {
    // `state` is used under `condition` alone; hence Sendable.
    private let condition = TimedCondition()
    private var state = State()
    private let descriptor: Int32
    private let byteLimit: Int

    /// 1 MiB is about 8,000 lines: an hour of a run with a step every half second.
    package static let standardError = LogQueue(descriptor: STDERR_FILENO, byteLimit: 1 << 20)

    private struct State {
        var lines: [[UInt8]] = []
        /// The first of `lines` that is not yet taken.
        var next = 0
        var byteCount = 0
        /// How many lines were taken by the writer.
        var taken = 0
        /// When nobody had read for a while, `taken` of that time.
        var stuckAt: Int?
        var isWriting = false
        var writer = Writer.none
        var droppedCount = 0
        var isDropping = false
        /// Whether what was dropped had the form of JSON, and so must what tells of it.
        var dropsJSON = false

        var isEmpty: Bool { next == lines.count }
    }

    private enum Writer { case none, running, refused }

    /// - Parameters:
    ///   - descriptor: where the lines go; it stays open.
    ///   - byteLimit: most bytes that wait. Lines that matter most may take as much again.
    package init(descriptor: Int32, byteLimit: Int) {
        self.descriptor = descriptor
        self.byteLimit = byteLimit
    }

    /// Hands a text over; never waits for its reader.
    ///
    /// - Parameters:
    ///   - text: whole lines as a rule.
    ///   - isUrgent: it is one of the last to be dropped.
    package func put(_ text: String, isUrgent: Bool = false) {
        let bytes = Array(text.utf8)
        let isTaken = condition.withLock {
            startWriter()
            guard state.writer == .running else { return false }
            // One that is dropped is followed by others until half of the queue is free: a slow
            // reader is told of gaps, and not of one after every line.
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
        // Without a thread of its own there is nothing to hand over to.
        if !isTaken { write(bytes) }
    }

    /// Waits until all that was put is written.
    ///
    /// - Returns: false when it was not within `time`.
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

    /// As `flush`, but does not wait again for a reader that let it wait in vain before.
    package func settle(within time: Duration) {
        let isStuck = condition.withLock { state.stuckAt == state.taken }
        if isStuck || flush(within: time) { return }
        condition.withLock { state.stuckAt = state.taken }
    }

    private var isDone: Bool {
        state.isEmpty && !state.isWriting && state.droppedCount == 0
    }

    private func append(_ bytes: [UInt8]) {
        state.lines.append(bytes)
        state.byteCount += bytes.count
        condition.broadcast()
    }

    private func tellDropped() {
        guard state.droppedCount > 0 else { return }
        let sentence = "\(state.droppedCount) lines of this log were left out: nobody read them"
        let line =
            state.dropsJSON
            ? JSONLine([
                ("level", .string(Log.Level.warning.rawValue)), ("message", .string(sentence)),
                ("left_out", .integer(state.droppedCount)),
            ]).text : "warning: " + sentence
        state.droppedCount = 0
        append(Array((line + "\n").utf8))
    }

    /// With the lock held.
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

    /// The writer's life, which is the process's.
    fileprivate func run() {
        while true { write(takeNext()) }
    }

    private func takeNext() -> [UInt8] {
        condition.withLock {
            state.isWriting = false
            if state.isEmpty { tellDropped() }
            condition.broadcast()
            while state.isEmpty { condition.wait() }
            let bytes = state.lines[state.next]
            state.next += 1
            state.byteCount -= bytes.count
            state.taken += 1
            // Not after every line, which would move all the others.
            if state.isEmpty || state.next == 1024 {
                state.lines.removeFirst(state.next)
                state.next = 0
            }
            state.isWriting = true
            return bytes
        }
    }

    /// A line in one `write`, so that lines of several processes do not mix.
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
                // A closed standard error is no reason to stop a run; there is nowhere left to say
                // so.
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
