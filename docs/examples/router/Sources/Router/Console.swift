import Dispatch
import Foundation
import Routing
import Synchronization

/// Lines from standard input, and Ctrl-C.
///
/// `@unchecked`: Dispatch's source is not Sendable; nobody touches it once it runs.
final class Console: @unchecked Sendable {
    private let answering = Mutex<Task<Void, Never>?>(nil)
    private let interrupts: any DispatchSourceSignal

    init() {
        signal(SIGINT, SIG_IGN)
        interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        interrupts.setEventHandler { [weak self] in self?.interrupt() }
        interrupts.resume()
    }

    private func interrupt() {
        guard let task = answering.withLock({ $0 }) else { exit(130) }
        task.cancel()
    }

    /// Runs something that Ctrl-C stops. Between such things Ctrl-C ends the program.
    func answering(_ work: @escaping @Sendable () async -> Void) async {
        let task = Task { await work() }
        answering.withLock { $0 = task }
        await task.value
        answering.withLock { $0 = nil }
    }

    /// The lines, read by a thread of its own: reading waits for a person.
    func lines() -> AsyncStream<String> {
        let prompts = isatty(STDIN_FILENO) == 1
        return AsyncStream(unfolding: {
            await withCheckedContinuation { next in
                Thread.detachNewThread {
                    if prompts { Console.say("> ", end: "") }
                    next.resume(returning: readLine().flatMap { $0.isEmpty ? nil : $0 })
                }
            }
        })
    }

    static func say(_ text: String, end: String = "\n") {
        print(text, terminator: end)
        fflush(nil)
    }

    /// A line of the program's own; on a terminal it looks different from what a model says.
    static func note(_ text: String) {
        let text = harmless(text)
        say(isatty(STDOUT_FILENO) == 1 ? "\u{1B}[2m\(text)\u{1B}[0m" : text)
    }

    /// Without characters that command a terminal.
    static func harmless(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter {
                    $0 == "\n" || $0 == "\t" || $0.properties.generalCategory != .control
                }))
    }

    static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(harmless(text))\n".utf8))
    }
}
