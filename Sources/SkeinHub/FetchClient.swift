import Foundation
import SkeinBasics

/// Starts `skein-fetch` and follows what it says.
package struct FetchClient: Sendable {
    /// The program's path.
    package let program: String
    private let environment: [String: String]
    private let silence: Duration

    /// - Parameters:
    ///   - program: The fetcher's path.
    ///   - environment: The fetcher's variables, among them a token.
    ///   - silence: How long it may say nothing.
    package init(
        program: String, environment: [String: String], silence: Duration = Limits.silence
    ) {
        self.program = program
        self.environment = environment
        self.silence = silence
    }

    /// `SKEIN_FETCH`, else the file beside the running program.
    ///
    /// - Parameter environment: The process's variables.
    /// - Throws: `HubError.noFetcher`.
    package init(environment: [String: String]) throws(HubError) {
        var path = environment["SKEIN_FETCH"] ?? ""
        if path.isEmpty {
            let own = realpath("/proc/self/exe", nil).map { pointer in
                defer { free(pointer) }
                return String(cString: pointer)
            }
            path = FilePath.join(
                FilePath.parent(of: own ?? CommandLine.arguments[0]), "skein-fetch")
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0
        else { throw .noFetcher(path: path) }
        self.init(program: path, environment: environment)
    }

    /// Downloads a model or an adapter into the cache.
    ///
    /// - Parameters:
    ///   - reference: The model or adapter.
    ///   - kind: What it is wanted as; nil: all that the repository is.
    ///   - isCancelled: Asked five times a second.
    ///   - progress: Gets `FetchMessage.progress` and `.waiting`.
    /// - Returns: The commit.
    /// - Throws: `HubError`.
    package func fetch(
        _ reference: HubReference, as kind: HubKind? = nil,
        isCancelled: () -> Bool = { false },
        progress: (FetchMessage) -> Void
    ) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        // The system's network code traps on some answers: skein says so, in one sentence.
        process.environment = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { old, _ in old
        }
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        do { try process.run() } catch { throw HubError.noFetcher(path: program) }
        var isEnded = false
        defer {
            // By its own identifier; it is not reaped yet, so no other process has it.
            if !isEnded, process.isRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
        }
        try? input.fileHandleForWriting.write(
            contentsOf: FetchLine.bytes(FetchRequest(reference: reference, kind: kind)))
        try? input.fileHandleForWriting.close()
        var lines = LineBuffer()
        var last = ContinuousClock.now
        while true {
            if isCancelled() { throw HubError.interrupted }
            var poll = pollfd(
                fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let ready = Foundation.poll(&poll, 1, 200)
            guard ready > 0 else {
                if ContinuousClock.now - last > silence {
                    throw HubError.fetcherSilent(seconds: Int(silence.components.seconds))
                }
                continue
            }
            guard try lines.fill(from: poll.fd) else {
                process.waitUntilExit()
                isEnded = true
                // Ctrl-C on a terminal reaches both programs, the other one perhaps first.
                let isSignal = process.terminationReason == .uncaughtSignal
                let status = process.terminationStatus
                throw isSignal && status == SIGINT
                    ? HubError.interrupted
                    : HubError.fetcherEnded(status: status, isSignal: isSignal)
            }
            last = .now
            while let line = try lines.next() {
                let message = try FetchLine.read(FetchMessage.self, line)
                switch message {
                case .progress(let done, let total, let received):
                    guard min(done, total, received) >= 0 else { throw HubError.badMessage }
                    progress(message)
                case .waiting: progress(message)
                case .failed(let error): throw error
                case .finished(let commit):
                    guard HubNames.isCommit(commit) else { throw HubError.badMessage }
                    return commit
                }
            }
        }
    }
}

/// Bytes of a pipe, as lines of bounded length.
package struct LineBuffer {
    private var bytes: [UInt8] = []

    package init() {}

    /// Reads once.
    ///
    /// - Returns: false at the end.
    /// - Throws: `HubError.storage`.
    package mutating func fill(from descriptor: Int32) throws(HubError) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = chunk.withUnsafeMutableBytes {
                Foundation.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw .storage(path: "skein-fetch", operation: "read from", code: errno)
            }
            bytes += chunk[..<count]
            return count > 0
        }
    }

    /// The next whole line, without its end.
    ///
    /// - Throws: `HubError.badMessage` when it is too long.
    package mutating func next() throws(HubError) -> [UInt8]? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            guard bytes.count <= Limits.lineBytes else { throw .badMessage }
            return nil
        }
        let line = Array(bytes[..<end])
        bytes.removeFirst(end + 1)
        return line
    }
}
