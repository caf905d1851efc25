import Foundation
import SkeinBasics
import SkeinLaunch

/// A child whose lines somebody reads.
struct LoggedChild {
    let name: String
    let process: ChildProcess
    private var lines: LinePrefixer
    private var outputIsOpen = true
    private var errorIsOpen = true
    private(set) var ending: ChildProcess.Ending?
    /// The last lines of standard error, for whoever asks why it ended.
    private(set) var lastLines: [String] = []

    /// Throws `LaunchError.notStarted`.
    init(_ name: String, _ words: [String]) throws {
        self.name = name
        process = try ChildProcess.start(words)
        lines = LinePrefixer(name: name, format: .text)
    }

    /// What its streams are to be watched for.
    var descriptors: [pollfd] {
        [(process.output, outputIsOpen), (process.error, errorIsOpen)].compactMap {
            stream, isOpen in
            isOpen ? pollfd(fd: stream, events: Int16(POLLIN), revents: 0) : nil
        }
    }

    /// New lines of standard error; what it says on standard output is dropped.
    mutating func read() -> [String] {
        // First, so that all that it wrote before its end is there.
        if ending == nil { ending = process.ending() }
        if outputIsOpen { (_, outputIsOpen) = ChildProcess.available(process.output) }
        guard errorIsOpen else { return [] }
        let (bytes, isOpen) = ChildProcess.available(process.error)
        errorIsOpen = isOpen
        let new = lines.lines(of: bytes).map(\.text)
        lastLines = Array((lastLines + new).suffix(20))
        return new
    }

    /// Blocks until it has ended by itself, or, after so many seconds, by SIGKILL.
    mutating func wait(seconds: Double) {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ending == nil, ContinuousClock.now < deadline {
            var descriptors = descriptors
            _ = poll(&descriptors, nfds_t(descriptors.count), 20)
            if descriptors.isEmpty { usleep(10_000) }
            _ = read()
        }
        kill()
    }

    /// Ends it, wherever it is, and lets go of its streams.
    mutating func kill() {
        if ending == nil {
            process.send(SIGKILL)
            while ending == nil {
                ending = process.ending()
                if ending == nil { usleep(1000) }
            }
        }
        process.closeStreams()
    }
}
