import Dispatch
import Foundation
import SkeinBasics
import Synchronization

/// Ctrl-C and SIGTERM: the first asks the process to stop soon, the second ends it at once.
final class InterruptFlag: Sendable {
    private let count = Atomic<Int>(0)
    private let queue = DispatchQueue(label: "skein.interrupts")
    private let told = DispatchQueue(label: "skein.interrupts.told")

    /// A flag that nothing sets until `listen` is called.
    init() {}

    /// Whether to stop. Cheap enough to ask in every micro-batch.
    var isSet: Bool { count.load(ordering: .relaxed) > 0 }

    /// Ends the process once the last messages are written, or after 0.3 s.
    static func endAtOnce(_ status: ExitStatus) {
        Log.flush(within: .milliseconds(300))
        _exit(status.rawValue)
    }

    /// Watches SIGINT and SIGTERM while `body` runs, with a flag of its own; then they end the process
    /// as usual again, until someone else listens.
    ///
    /// - Parameter body: Asks the flag.
    /// - Returns: Its result.
    static func listening<Result>(_ body: (InterruptFlag) throws -> Result) rethrows -> Result {
        let flag = InterruptFlag()
        let signals = [SIGINT, SIGTERM]
        let sources = flag.listen(to: signals)
        defer {
            for source in sources { source.cancel() }
            for number in signals { signal(number, SIG_DFL) }
        }
        return try body(flag)
    }

    /// Starts to watch `signals`; without this they end the process as usual.
    ///
    /// - Parameters:
    ///   - signals: The signals to watch.
    ///   - first: Called at the first signal, on a private queue, for instance to print a message.
    ///   - second: Called at the second signal and each later one. By default it ends the process
    ///     at once with status 130, without cleaning up: what must be durable already is.
    /// - Returns: What watches; it lives as long as the process unless it is cancelled.
    @discardableResult
    func listen(
        to signals: [Int32] = [SIGINT, SIGTERM],
        first: @escaping @Sendable () -> Void = {},
        second: @escaping @Sendable () -> Void = { InterruptFlag.endAtOnce(.interrupted) }
    ) -> [any DispatchSourceSignal] {
        signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self, source] in
                // The handler retains its source, which therefore lives as long as the process.
                // Two signals before the handler runs arrive as one event with data 2.
                let arrived = max(1, Int(source.data))
                let before = count.wrappingAdd(arrived, ordering: .relaxed).oldValue
                // On another queue: it may block in printing, and the second signal must not wait.
                if before == 0 { told.async { first() } }
                if before + arrived > 1 { second() }
            }
            // Until the source is registered (0.2 ms, measured), signals are ignored and lost.
            let isRegistered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { isRegistered.signal() }
            source.resume()
            isRegistered.wait()
            return source
        }
    }
}
