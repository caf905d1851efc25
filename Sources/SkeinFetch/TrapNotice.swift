import Foundation
import SkeinHub
import Synchronization

/// Says what happened when the system's network code ends the program.
///
/// Foundation keeps the Content-Length of an answer as a `Double` and makes an `Int64` of it, which
/// traps from 2^63 - 512 up; its delegates hear of the header only afterwards. What this program says
/// then is written before each exchange, since a signal's handler may not allocate.
enum TrapNotice {
    /// What an answer's place is said to have done.
    static let problem =
        "it ended the system's network code, as a Content-Length of nearly 2^63 does"

    // Sendable: never changed; the bytes in it are written while `count` is 0.
    nonisolated(unsafe) private static let line = UnsafeMutablePointer<UInt8>.allocate(
        capacity: capacity)
    /// A pipe takes so many bytes at once, so they do not get among those of another thread.
    private static let capacity = Int(PIPE_BUF)
    /// Bytes of `line`; 0: none.
    private static let count = Atomic<Int>(0)
    /// The one thread that waits for exchanges and runs none of Foundation's network code.
    private static let main = pthread_self()

    /// Begins to listen; called by the thread that waits for exchanges.
    static func listen() {
        _ = (line, main)
        // An illegal instruction on x86, a breakpoint on ARM.
        for signal in [SIGILL, SIGTRAP] { Foundation.signal(signal, handle) }
    }

    /// What is said if a thread traps while `exchange` runs; another trap ends as it would have.
    static func saying<Value, Failure: Error>(
        _ message: some Encodable, during exchange: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        prepare(message)
        defer { count.store(0, ordering: .sequentiallyConsistent) }
        return try exchange()
    }

    private static func prepare(_ message: some Encodable) {
        count.store(0, ordering: .sequentiallyConsistent)
        // A notice that does not fit is not written: the end of the program is an error all the same.
        guard let bytes = try? FetchLine.bytes(message), bytes.count <= capacity
        else { return }
        line.update(from: bytes, count: bytes.count)
        count.store(bytes.count, ordering: .sequentiallyConsistent)
    }

    private static let handle: @convention(c) (Int32) -> Void = { signal in
        let bytes = count.load(ordering: .sequentiallyConsistent)
        guard bytes > 0, pthread_equal(pthread_self(), main) == 0 else {
            // A bug of our own ends as it would have: the instruction is run again.
            Foundation.signal(signal, SIG_DFL)
            return
        }
        // First, so that the next request finds no reader and goes to another fetcher: this one may
        // still be about to end when its answer has long been read.
        close(STDIN_FILENO)
        write(STDOUT_FILENO, line, bytes)
        _exit(1)
    }
}
