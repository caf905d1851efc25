import Foundation
import SkeinBasics
import SkeinHub

/// `skein-fetch`: reads one request from standard input, downloads, and reports on standard output.
/// `skein` starts it; docs/HUB.md has the rules. `skein-fetch exchange` sends requests to MLflow.
@main
enum Entrypoint {
    static func main() {
        // It ends with its parent: the next report finds no reader.
        signal(SIGPIPE, SIG_DFL)
        TrapNotice.listen()
        if Array(CommandLine.arguments.dropFirst()) == [ExchangeMode.argument] {
            // Without waiting for what a server still sends.
            _exit(Exchanges.run(environment: ProcessInfo.processInfo.environment))
        }
        guard CommandLine.arguments.count == 1 else {
            print(
                "skein-fetch \(Version.text): a part of skein, which starts it; see skein pull --help"
            )
            exit(
                CommandLine.arguments[1] == "--help" || CommandLine.arguments[1] == "--version"
                    ? 0 : 64)
        }
        let report = Report()
        report.startBeating()
        do {
            let commit = try fetch(report)
            report.sayLast()
            report.send(.finished(commit: commit))
            _exit(0)
        } catch let error as HubError {
            report.send(.failed(error))
        } catch FileError.failed(let operation, let path, let code) {
            report.send(.failed(.storage(path: path, operation: operation, code: code)))
        } catch {
            // Its kind alone: a text of the system may hold a URL.
            let problem = "internal error \(type(of: error))"
            report.send(.failed(.badAnswer(place: "skein-fetch", problem: problem)))
        }
        // Without waiting for what a server still sends.
        _exit(1)
    }

    /// Seconds without a byte after which a server is given up: tests wait for one that hangs, a person
    /// need not.
    static func idle(at seconds: Int) -> Int {
        let set = ProcessInfo.processInfo.environment["SKEIN_FETCH_IDLE"].flatMap { Int($0) }
        return max(1, min(set ?? seconds, 600))
    }

    private static func fetch(_ report: Report) throws -> String {
        var lines = LineBuffer()
        var line: [UInt8]?
        while line == nil, try lines.fill(from: STDIN_FILENO) { line = try lines.next() }
        guard let line else { throw HubError.badMessage }
        let request = try FetchLine.read(FetchRequest.self, line)
        let reference = request.reference
        guard HubReference(reference.text) == reference else {
            throw HubError.notAReference(text: reference.text)
        }
        let settings = try HubSettings(environment: ProcessInfo.processInfo.environment)
        let server = try HubServer(
            settings: settings, idle: .seconds(idle(at: 30)), beat: report.beat)
        let commit = try server.commit(of: reference)
        let sizes = try server.files(of: reference, commit: commit)
        let wanted = try HubSelection.files(
            of: Array(sizes.keys), for: reference, as: request.kind)
        let cache = HubCache(directory: settings.cache, reference: reference)
        report.total = wanted.reduce(0) { $0 + (sizes[$1] ?? 0) }
        for file in wanted {
            let size = sizes[file] ?? 0
            let metadata = try server.metadata(
                of: file, reference, commit: commit, listed: size)
            try BlobDownload(
                server: server, cache: cache, reference: reference, file: file,
                metadata: metadata, report: report
            ).run()
            try cache.link(file, of: commit, to: metadata.etag)
            report.finishFile(size)
        }
        for kind in request.kind.map({ [$0] }) ?? HubKind.allCases {
            guard let files = HubSelection.folder(kind, among: Array(sizes.keys)) else { continue }
            try cache.record(files, of: commit, as: kind)
        }
        try cache.remember(commit)
        return commit
    }
}

/// What is said to `skein`, at most five times a second while bytes arrive.
final class Report: @unchecked Sendable {
    // `lock` guards every variable: bytes arrive on another thread than the one that waits.
    private let lock = NSLock()
    private var finished = 0
    private var current = 0
    private var all = 0
    private var received = 0
    private var waiting: String?
    private var last = ContinuousClock.now - .seconds(1)
    private var worked = ContinuousClock.now
    private var timer: (any DispatchSourceTimer)?

    var total: Int {
        get { lock.withLock { all } }
        set { lock.withLock { all = newValue } }
    }

    /// So many bytes of the file are here, of which so many came just now.
    func show(_ bytes: Int, received: Int = 0) {
        lock.withLock {
            current = bytes
            self.received += received
            waiting = nil
        }
        beat()
    }

    /// Another process downloads the file.
    func wait(for file: String) {
        lock.withLock { waiting = file }
        beat()
    }

    func finishFile(_ bytes: Int) {
        lock.withLock {
            finished += bytes
            current = 0
        }
        beat()
    }

    /// Says where it is while the work says nothing, as when a disk takes minutes to be flushed; after
    /// ten of them no more, so that `skein` gives it up.
    func startBeating() {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "skein-fetch.beat"))
        timer.schedule(deadline: .now() + 1, repeating: 1)
        timer.setEventHandler { [self] in
            let isAlive = lock.withLock { ContinuousClock.now - worked < .seconds(600) }
            if isAlive { say() }
        }
        timer.resume()
        lock.withLock { self.timer = timer }
    }

    /// The work goes on.
    func beat() {
        lock.withLock { worked = .now }
        say()
    }

    /// Says where it is at the end.
    func sayLast() {
        send(lock.withLock { .progress(done: finished, total: all, received: received) })
    }

    /// Says where it is, if it has not just done so.
    private func say() {
        let message: FetchMessage? = lock.withLock {
            guard ContinuousClock.now - last > .milliseconds(200) else { return nil }
            last = .now
            if let waiting { return .waiting(file: waiting) }
            return .progress(done: finished + current, total: all, received: received)
        }
        if let message { send(message) }
    }

    func send(_ message: FetchMessage) {
        // An error names at most 30 files, which fit; an end without a word would be an error, too.
        guard let bytes = try? FetchLine.bytes(message) else { return }
        lock.withLock {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    write(STDOUT_FILENO, $0.baseAddress, $0.count)
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
