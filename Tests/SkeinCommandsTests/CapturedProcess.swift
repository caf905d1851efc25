import SkeinBasics
import Synchronization

@testable import SkeinCommands

/// A process whose standard streams are in memory.
final class CapturedProcess: Sendable {
    private struct Streams {
        var output: [UInt8] = []
        var error = ""
    }

    private let streams = Mutex(Streams())

    /// A log whose lines follow what is written to standard error.
    var log: Log {
        Log(to: { _, text in self.streams.withLock { $0.error += text + "\n" } })
    }

    var output: String { streams.withLock { String(decoding: $0.output, as: UTF8.self) } }
    var error: String { streams.withLock { $0.error } }

    func io(isTerminal: Bool = false, log: Log = Log()) -> CommandIO {
        CommandIO(
            log: log, isTerminal: isTerminal, interrupt: InterruptFlag(),
            writeOutput: { bytes in self.streams.withLock { $0.output += bytes } },
            writeError: { text in self.streams.withLock { $0.error += text } },
            writeLastError: { text in self.streams.withLock { $0.error += text } },
            readInput: { [] })
    }

    /// Runs a command line of `skein`, or of another program, and returns its exit status.
    func run(by tool: CommandLineTool = .skein, _ words: String...) -> Int32 {
        tool.run(words, io())
    }
}
