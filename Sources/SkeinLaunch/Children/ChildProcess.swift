import Foundation
import SkeinBasics

#if os(Linux)
    import CSkeinSystem
#endif

/// A process that this one started. It has its own process group, so that a terminal's Ctrl-C only
/// reaches the parent, and a standard input that ends when the parent does (`ParentPipe`).
package struct ChildProcess: Sendable {
    /// How a process ended.
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        case killed(signal: Int32)

        /// `status 65`, `signal 9`.
        package var text: String {
            switch self {
            case .exited(let status): "status \(status)"
            case .killed(let signal): "signal \(signal)"
            }
        }
    }

    package let identifier: pid_t
    /// The reading ends; -1 if the child writes into files. They do not block, but `talking`'s does.
    package let output: Int32
    let error: Int32
    /// The writing end of its standard input, open for as long as the child should live; -1 if its
    /// input is empty.
    private let input: Int32

    /// Starts `words`, the first of which is looked up in PATH, with pipes that must be read, and
    /// passes it `input`.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - input: at most 4 KiB, which a pipe holds, so that the write does not block.
    /// - Returns: the running process.
    /// - Throws: `LaunchError.notStarted`; `FileError` when there are no pipes left.
    static func start(_ words: [String], input: [UInt8] = []) throws -> ChildProcess {
        precondition(!words.isEmpty && input.count <= Limits.childInputBytes)
        var open: [Int32] = []
        var kept = false
        defer { if !kept { for descriptor in open { close(descriptor) } } }
        func pipe() throws -> (reading: Int32, writing: Int32) {
            let ends = try closingPipe()
            open += [ends.reading, ends.writing]
            return ends
        }
        let (input, given) = (try pipe(), input)
        let (output, error) = (try pipe(), try pipe())
        for descriptor in [output.reading, error.reading] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
        let identifier = try spawn(
            words, streams: [input.reading, output.writing, error.writing],
            variables: [ParentPipe.variable: "0"])
        kept = true
        for descriptor in [input.reading, output.writing, error.writing] { close(descriptor) }
        // Fails if the child is already gone; its ending tells why.
        _ = given.withUnsafeBytes { write(input.writing, $0.baseAddress, $0.count) }
        return ChildProcess(
            identifier: identifier, output: output.reading, error: error.reading,
            input: input.writing)
    }

    /// Starts `words`, the first of which is looked up in PATH, with an open file as its standard input
    /// and with pipes that must be read.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - input: a descriptor, which stays the caller's; the child moves its offset.
    /// - Returns: the running process.
    /// - Throws: `LaunchError.notStarted`; `FileError` when there are no pipes left.
    static func start(_ words: [String], reading input: Int32) throws -> ChildProcess {
        var open: [Int32] = []
        var kept = false
        defer { if !kept { for descriptor in open { close(descriptor) } } }
        func pipe() throws -> (reading: Int32, writing: Int32) {
            let ends = try closingPipe()
            open += [ends.reading, ends.writing]
            _ = fcntl(ends.reading, F_SETFL, fcntl(ends.reading, F_GETFL) | O_NONBLOCK)
            return ends
        }
        let (output, error) = (try pipe(), try pipe())
        let identifier = try spawn(
            words, streams: [input, output.writing, error.writing], variables: [:])
        kept = true
        for descriptor in [output.writing, error.writing] { close(descriptor) }
        return ChildProcess(
            identifier: identifier, output: output.reading, error: error.reading, input: -1)
    }

    /// Starts `words`, the first of which is looked up in PATH, with files for its output.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - output: takes its standard output.
    ///   - error: takes its standard error.
    ///   - isHeld: whether it ends when this process does; else its standard input is empty.
    ///   - variables: environment variables to add to this process's.
    /// - Returns: the running process.
    /// - Throws: `LaunchError.notStarted`; `FileError` when there are no pipes left.
    package static func start(
        _ words: [String], output: Int32, error: Int32, isHeld: Bool, variables: [String: String]
    ) throws -> ChildProcess {
        let input =
            isHeld
            ? try closingPipe() : (reading: open("/dev/null", O_RDONLY | O_CLOEXEC), writing: -1)
        defer { close(input.reading) }
        var kept = false
        defer { if !kept { close(input.writing) } }
        let identifier = try spawn(
            words, streams: [input.reading, output, error],
            variables: variables.merging([ParentPipe.variable: isHeld ? "0" : ""]) { $1 })
        kept = true
        return ChildProcess(
            identifier: identifier, output: -1, error: -1, input: input.writing)
    }

    /// Starts `words`, the first of which is looked up in PATH, to talk with: lines are written to its
    /// standard input, which ends when this process does, and read from its standard output.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - environment: all its environment variables.
    ///   - error: takes its standard error; nil: it is dropped.
    ///   - ownGroup: false: a terminal's signals are for it, too.
    /// - Returns: the running process.
    /// - Throws: `LaunchError.notStarted`; `FileError` when there are no pipes left.
    package static func talking(
        _ words: [String], environment: [String: String], error: Int32?, ownGroup: Bool = true
    ) throws -> ChildProcess {
        var open: [Int32] = []
        var kept = false
        defer { if !kept { for descriptor in open { close(descriptor) } } }
        func pipe() throws -> (reading: Int32, writing: Int32) {
            let ends = try closingPipe()
            open += [ends.reading, ends.writing]
            return ends
        }
        let (input, output) = (try pipe(), try pipe())
        let nothing = Foundation.open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nothing >= 0 else {
            throw FileError.failed(operation: "open", path: "/dev/null", code: errno)
        }
        defer { close(nothing) }
        let identifier = try spawn(
            words, streams: [input.reading, output.writing, error ?? nothing],
            variables: [:], environment: environment, ownGroup: ownGroup)
        kept = true
        for descriptor in [input.reading, output.writing] { close(descriptor) }
        return ChildProcess(
            identifier: identifier, output: output.reading, error: -1, input: input.writing)
    }

    /// Writes to the standard input of a child that `talking` started. The process must ignore SIGPIPE.
    ///
    /// - Parameter bytes: at most 64 KiB, which an empty pipe holds, so that the write does not block.
    /// - Returns: false when the child is gone.
    package func tell(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Kills the child, closes its streams and waits for its end.
    package func end() {
        kill(identifier, SIGKILL)
        closeStreams()
        _ = ending(waits: true)
    }

    /// A pipe that no other child inherits: an inherited end would keep the pipe open.
    package static func closingPipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            // At once: another thread may start a child between two calls.
            let status = pipe2(&ends, O_CLOEXEC)
        #else
            let status = pipe(&ends)
        #endif
        guard status == 0 else {
            throw FileError.failed(operation: "make a pipe", path: "skein launch", code: errno)
        }
        #if !os(Linux)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #endif
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ words: [String], streams: [Int32], variables: [String: String],
        environment: [String: String] = ProcessInfo.processInfo.environment,
        ownGroup: Bool = true
    ) throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, stream) in streams.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
        }
        // The parent ignores or handles these signals; a child starts as from a shell.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGCHLD] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags =
            POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
            | (ownGroup ? POSIX_SPAWN_SETPGROUP : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let environment = environment.merging(variables) { $1 }
        var identifier: pid_t = 0
        let code = withCStrings(words) { words in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                words[0].map {
                    posix_spawnp(&identifier, $0, &actions, &attributes, words, environment)
                } ?? EINVAL
            }
        }
        guard code == 0 else { throw LaunchError.notStarted(program: words[0], code: code) }
        return identifier
    }

    /// Calls `body` with `texts` as C strings and a null pointer after the last.
    private static func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }

    /// Signals only the child, not the processes that it has started.
    package func send(_ signal: Int32) {
        kill(identifier, signal)
    }

    /// How it ended; a child that has ended is reaped.
    ///
    /// - Parameter waits: whether to wait for its end.
    /// - Returns: nil while it runs.
    package func ending(waits: Bool = false) -> Ending? {
        var status: Int32 = 0
        var found: pid_t
        repeat {
            found = waitpid(identifier, &status, waits ? 0 : WNOHANG)
        } while waits && found < 0 && errno == EINTR
        // It was reaped before, so it does not run any more.
        if found < 0, errno == ECHILD { return .exited(ExitStatus.internalError.rawValue) }
        guard found == identifier else { return nil }
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal)
    }

    /// What can be read without blocking, about 1 MiB at most, and whether more can come.
    static func available(_ descriptor: Int32) -> (bytes: [UInt8], isOpen: Bool) {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < 1 << 20 {
            let count = chunk.withUnsafeMutableBytes {
                Foundation.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                return (bytes, count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            }
            bytes += chunk[..<count]
        }
        return (bytes, true)
    }

    /// Closes its streams; a child that still runs sees the end of its input.
    package func closeStreams() {
        for descriptor in [input, output, error] where descriptor >= 0 { close(descriptor) }
    }
}

/// The file that this process runs.
package enum ProgramFile {
    /// Its real path, so that `ps` and `pgrep` show children started from it by name.
    package static var path: String {
        let link = "/proc/self/exe"
        guard let path = realpath(link, nil) else { return link }
        defer { free(path) }
        return String(cString: path)
    }

    /// The real path of a program that this process may start; nil for a folder, a file that is not
    /// executable, or nothing.
    package static func program(at path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        var status = stat()
        guard stat(real, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(real, X_OK) == 0
        else { return nil }
        return String(cString: real)
    }
}
