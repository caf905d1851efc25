import Dispatch
import Foundation
import SkeinBasics
import Synchronization

/// Ctrl-C and SIGTERM: the first asks the process to stop soon, the second ends it at once.
package final class InterruptFlag: Sendable {
    private let count = Atomic<Int>(0)
    private let told = DispatchQueue(label: "skein.interrupts.told")

    /// A flag that nothing sets until `listen` is called.
    init() {}

    /// Whether to stop. Cheap enough to ask in every micro-batch.
    package var isSet: Bool { count.load(ordering: .relaxed) > 0 }

    /// Ends the process once the last messages are written, or after 0.3 s.
    package static func endAtOnce(_ status: ExitStatus) {
        Log.flush(within: .milliseconds(300))
        _exit(status.rawValue)
    }

    /// Watches SIGINT and SIGTERM while `body` runs, with a flag of its own; then they end the process
    /// as usual again, until other code listens.
    ///
    /// - Parameter body: Asks the flag.
    /// - Returns: Its result.
    static func listening<Result>(_ body: (InterruptFlag) throws -> Result) rethrows -> Result {
        let flag = InterruptFlag()
        flag.listen()
        defer { flag.forget() }
        return try body(flag)
    }

    /// Hears no more signals; without another flag that does, they end the process.
    func forget() { Signals.shared.forget(self) }

    /// Starts to watch `signals`; without this they end the process as usual.
    ///
    /// - Parameters:
    ///   - signals: The signals to watch.
    ///   - first: Called at the first signal, on a private queue, for instance to print a message.
    ///   - second: Called at the second signal and each later one. By default it ends the process
    ///     at once with status 130, without cleaning up: what must be durable already is.
    package func listen(
        to signals: [Int32] = [SIGINT, SIGTERM],
        first: @escaping @Sendable () -> Void = {},
        second: @escaping @Sendable () -> Void = { InterruptFlag.endAtOnce(.interrupted) }
    ) {
        Signals.shared.watch(
            signals,
            Signals.Listener(flag: ObjectIdentifier(self)) { [self] arrived in
                let before = count.wrappingAdd(arrived, ordering: .relaxed).oldValue
                // On another queue: it may block in printing, and the second signal must not wait.
                if before == 0 { told.async { first() } }
                if before + arrived > 1 { second() }
            })
    }
}

/// The process's signals, and who listens to them.
///
/// A signal is watched once and for good: on Linux, Dispatch loses the signals of a second source
/// after the first one was cancelled, and they were ignored for the rest of a run.
private final class Signals: Sendable {
    struct Listener: Sendable {
        let flag: ObjectIdentifier
        /// Gets how many signals have arrived.
        let handle: @Sendable (Int) -> Void
    }

    static let shared = Signals()

    private struct State: Sendable {
        var listeners: [Int32: [Listener]] = [:]
        var watched: Set<Int32> = []
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "skein.interrupts")

    func watch(_ signals: [Int32], _ listener: Listener) {
        for number in signals {
            let isWatched = state.withLock { state in
                state.listeners[number, default: []].append(listener)
                return !state.watched.insert(number).inserted
            }
            if !isWatched { watch(number) }
        }
    }

    func forget(_ flag: InterruptFlag) {
        let flag = ObjectIdentifier(flag)
        state.withLock { state in
            for number in state.listeners.keys {
                state.listeners[number]?.removeAll { $0.flag == flag }
            }
        }
    }

    private func watch(_ number: Int32) {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        // The handler retains its source, which therefore lives as long as the process.
        source.setEventHandler { [self, source] in
            // Two signals before the handler runs arrive as one event with data 2.
            arrived(number, max(1, Int(source.data)))
        }
        // Until the source is registered (0.2 ms, measured), signals are ignored and lost.
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isRegistered.signal() }
        source.resume()
        isRegistered.wait()
    }

    private func arrived(_ number: Int32, _ count: Int) {
        let listeners = state.withLock { $0.listeners[number] ?? [] }
        // Without a listener it does what the signal would have done.
        if listeners.isEmpty { InterruptFlag.endAtOnce(.interrupted) }
        for listener in listeners { listener.handle(count) }
    }
}
