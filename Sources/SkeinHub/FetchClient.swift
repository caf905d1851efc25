import Foundation
import SkeinBasics
import SkeinLaunch

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
        guard ProgramFile.program(at: path) != nil else { throw .noFetcher(path: path) }
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
    /// - Throws: `HubError`; `FileError` when there are no pipes left.
    package func fetch(
        _ reference: HubReference, as kind: HubKind? = nil,
        isCancelled: () -> Bool = { false },
        progress: (FetchMessage) -> Void
    ) throws -> String {
        let fetcher: FetcherProcess
        do {
            fetcher = try FetcherProcess(
                program: program, environment: environment, error: STDERR_FILENO)
        } catch is LaunchError {
            throw HubError.noFetcher(path: program)
        }
        defer { fetcher.end() }
        // If it takes nothing, its end tells why.
        _ = fetcher.tell(try FetchLine.bytes(FetchRequest(reference: reference, kind: kind)))
        var last = ContinuousClock.now
        while true {
            if isCancelled() { throw HubError.interrupted }
            switch try fetcher.news(within: .milliseconds(200)) {
            case .nothing:
                if ContinuousClock.now - last > silence {
                    throw HubError.fetcherSilent(seconds: Int(silence.components.seconds))
                }
            case .end:
                switch fetcher.ending() {
                // Ctrl-C's signal is meant for both programs.
                case .killed(SIGINT): throw HubError.interrupted
                case .killed(let signal):
                    throw HubError.fetcherEnded(status: signal, isSignal: true)
                case .exited(let status):
                    throw HubError.fetcherEnded(status: status, isSignal: false)
                case nil: throw HubError.fetcherEnded(status: 1, isSignal: false)
                }
            case .line(let line):
                last = .now
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
