import Dispatch
import Foundation
import SkeinBasics
import Synchronization

/// Ctrl-C and SIGTERM: the first asks for an end at the next good moment, the second ends at once.
final class InterruptFlag: Sendable {
    private let count = Atomic<Int>(0)
    private let queue = DispatchQueue(label: "skein.interrupts")
    private let told = DispatchQueue(label: "skein.interrupts.told")

    /// A flag that nothing sets until `listen` is called.
    init() {}

    /// Whether an end was asked for. Cheap enough to ask in every micro-batch.
    var isSet: Bool { count.load(ordering: .relaxed) > 0 }

    /// Ends the process as soon as what was said last is written, or nobody takes it.
    static func endAtOnce(_ status: ExitStatus) {
        Log.flush(within: .milliseconds(300))
        _exit(status.rawValue)
    }

    /// Starts to watch `signals`; without this they end the process as usual.
    ///
    /// - Parameters:
    ///   - signals: The signals that ask for an end.
    ///   - first: Told once, on a private queue, for instance to say what happens now.
    ///   - second: Told at the second signal and each later one; by default ends the process at
    ///     once, with status 130 and without cleaning up: what is durable is so already.
    func listen(
        to signals: [Int32] = [SIGINT, SIGTERM],
        first: @escaping @Sendable () -> Void = {},
        second: @escaping @Sendable () -> Void = { InterruptFlag.endAtOnce(.interrupted) }
    ) {
        for number in signals {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self, source] in
                // The handler holds its source, which so lives as long as the process.
                // Two signals before the handler runs arrive as one event with data 2.
                let arrived = max(1, Int(source.data))
                let before = count.wrappingAdd(arrived, ordering: .relaxed).oldValue
                // Elsewhere: what it prints to may be stuck, and then the second signal must not wait.
                if before == 0 { told.async { first() } }
                if before + arrived > 1 { second() }
            }
            // Until the source is registered a signal is ignored and lost (0.2 ms, measured).
            let isRegistered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { isRegistered.signal() }
            source.resume()
            isRegistered.wait()
        }
    }
}
