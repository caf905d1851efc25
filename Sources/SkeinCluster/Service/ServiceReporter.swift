import Foundation
import SkeinBasics
import SkeinNetwork

/// Reports to the service manager that started this process, if one did, on a thread of its own.
///
/// Each report takes a view of the node, which its network's thread answers within a turn. If that
/// thread hangs, this one waits for it, the watchdog hears nothing more, and the manager kills the
/// process and starts it again.
package final class ServiceReporter: @unchecked Sendable {
    // Sendable: `state` is used only under `condition`, and the rest never changes.

    /// What a node shows of itself.
    package struct View: Sendable, Equatable {
        /// What it does and waits for.
        package var sentence: String
        /// Whether it can do what it is for.
        package var isReady: Bool

        package init(sentence: String, isReady: Bool) {
            self.sentence = sentence
            self.isReady = isReady
        }
    }

    private struct State: Sendable {
        var passed = Duration.zero
        var isStopping = false
        /// The last sentence; nil: the process goes on.
        var ending: String?
        var hasEnded = false
    }

    private let start = ContinuousClock.now
    private let condition = TimedCondition()
    private var state = State()
    private let socket: NotifySocket?

    /// Begins to report; does nothing without a manager, or one that cannot be reached.
    ///
    /// - Parameters:
    ///   - environment: what the manager has said; nil: there is none.
    ///   - readyAfter: see `ServiceReport.init`.
    ///   - log: told why nothing is reported.
    ///   - view: asked on the reporter's thread, again and again; may wait for the network's thread.
    package init(
        _ environment: ServiceEnvironment?, readyAfter: Duration? = nil, log: Log,
        view: @escaping @Sendable () -> View
    ) {
        socket = environment.flatMap { Self.socket($0.socket, log) }
        guard let socket, let environment else { return }
        let report = ServiceReport(watchdog: environment.watchdog, readyAfter: readyAfter)
        let isStarted = SystemThread.start("skein-service") { [self] in run(socket, report, view) }
        if !isStarted {
            Self.warn(log, SocketError.threadRefused.explanation.what)
            condition.withLock { state.hasEnded = true }
        }
    }

    private static func socket(_ address: String, _ log: Log) -> NotifySocket? {
        guard NotifySocket.accepts(address) else {
            warn(log, "NOTIFY_SOCKET must be \(NotifySocket.accepted)")
            return nil
        }
        do {
            return try NotifySocket(address)
        } catch {
            warn(log, error.explanation.what)
            return nil
        }
    }

    private static func warn(_ log: Log, _ why: String) {
        log.warning("the service manager is told nothing: \(why)")
    }

    /// The thread on which a run, or a worker, asks whether it should stop comes by; it must ask now
    /// and then even if it has nothing else to do. See `Stillness`.
    ///
    /// - Parameter stops: the answer.
    /// - Returns: the answer.
    package func passing(_ stops: Bool) -> Bool {
        guard socket != nil else { return stops }
        condition.withLock {
            state.passed = .now - start
            guard stops, !state.isStopping else { return }
            state.isStopping = true
            condition.broadcast()
        }
        return stops
    }

    /// Reports while `body` runs, and then how it ended.
    package func during<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            let value = try body()
            end("done")
            return value
        } catch {
            end("ended: " + ((error as? any Explained)?.explanation.what ?? "\(error)"))
            throw error
        }
    }

    /// Sends the last report, for which a hanging network's thread is not waited long.
    private func end(_ sentence: String) {
        guard socket != nil else { return }
        let deadline = ContinuousClock.now + .seconds(1)
        condition.withLock {
            state.ending = sentence
            condition.broadcast()
            while !state.hasEnded, condition.wait(until: deadline) {}
        }
    }

    private func run(
        _ socket: NotifySocket, _ report: ServiceReport, _ view: @Sendable () -> View
    ) {
        var report = report
        var stillness = Stillness(now: .zero)
        while true {
            let (passed, wasStopping, ending) = condition.withLock {
                (state.passed, state.isStopping, state.ending)
            }
            let view = ending.map { View(sentence: $0, isReady: false) } ?? view()
            let now = ContinuousClock.now - start
            stillness.note(passed: passed, activity: .now, now: now)
            let lines = report.lines(
                ServiceReport.Look(
                    sentence: view.sentence, isReady: view.isReady,
                    isStopping: wasStopping || ending != nil, isLast: ending != nil,
                    moved: stillness.moved),
                now: now)
            if !lines.isEmpty, !socket.send(lines) { report.lost(lines) }
            let deadline = ContinuousClock.now + report.interval
            let isOver = condition.withLock {
                if ending != nil {
                    state.hasEnded = true
                    condition.broadcast()
                    return true
                }
                while state.ending == nil, state.isStopping == wasStopping,
                    condition.wait(until: deadline)
                {}
                return false
            }
            if isOver { return }
        }
    }
}
