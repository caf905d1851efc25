import Foundation
import SkeinBasics

/// Asks every host of a file, over ssh, whether it can take part; copies a release to those that lack
/// it. One thread, as in `Launcher`; `HostAnswer` and `CheckedHost` decide.
package struct HostCheck {
    /// How long it waits, and for how many at once.
    struct Patience: Sendable {
        /// ssh clients at the same time: sshd drops connections when more than ten from one place
        /// have not logged in yet, but hosts are different machines, and few ssh-agents mind.
        var parallel = 16
        /// Without a byte from the host and with nothing of a release taken.
        var silence = Duration.seconds(30)
        /// While it unpacks a release and waits for its disk.
        var unpacking = Duration.seconds(600)
        /// For a host that says something again and again.
        var answer = Duration.seconds(120)
        /// For one that takes a release again and again a bit.
        var copy = Duration.seconds(3600)
    }

    private let file: HostFile
    private let release: Release?
    private let demand: CheckedHost.Demand
    private let patience: Patience
    /// Looked up in PATH.
    private let ssh: String

    package init(_ file: HostFile, release: Release?, demand: CheckedHost.Demand) {
        self.init(file, release: release, demand: demand, patience: Patience(), ssh: "ssh")
    }

    init(
        _ file: HostFile, release: Release?, demand: CheckedHost.Demand, patience: Patience,
        ssh: String
    ) {
        self.file = file
        self.release = release
        self.demand = demand
        self.patience = patience
        self.ssh = ssh
    }

    /// An ssh client, and what came from it.
    private struct Inquiry {
        let host: HostFile.Host
        let process: ChildProcess
        /// Its standard input: the release, whose offset is how much ssh has taken.
        let input: Int32
        let began: ContinuousClock.Instant
        var changed: ContinuousClock.Instant
        var answer = HostAnswer()
        var errors: [UInt8] = []
        var byteCount = 0
        var taken: off_t = 0
        var isOpen = true
        /// This machine's clock when the host's was heard; a copy may take long after that.
        var heard: Int?
    }

    /// Checks all hosts.
    ///
    /// - Parameters:
    ///   - isInterrupted: asked at least 20 times a second.
    ///   - say: told of a copy that begins or ends, by the host's name.
    /// - Returns: each host, in the order of the file.
    /// - Throws: `LaunchError.checkInterrupted`; `notStarted` when there is no ssh; `FileError`. No ssh
    ///   client is left then.
    package func run(
        isInterrupted: () -> Bool, say: (_ name: String, _ sentence: String) -> Void
    ) throws -> [CheckedHost] {
        var waiting = file.hosts[...]
        var running: [Inquiry] = []
        var found: [String: CheckedHost] = [:]
        defer {
            for inquiry in running {
                inquiry.process.end()
                Foundation.close(inquiry.input)
            }
        }
        while !waiting.isEmpty || !running.isEmpty {
            while running.count < patience.parallel, let host = waiting.popFirst() {
                running.append(try ask(host))
            }
            wait(for: running)
            if isInterrupted() { throw LaunchError.checkInterrupted }
            var left: [Inquiry] = []
            for var inquiry in running {
                let before = inquiry.answer
                if let host = advance(&inquiry) {
                    found[host.name] = host
                } else {
                    left.append(inquiry)
                }
                tell(before, inquiry.answer, inquiry.host.name, say)
            }
            running = left
        }
        return file.hosts.compactMap { found[$0.name] }
    }

    private func ask(_ host: HostFile.Host) throws -> Inquiry {
        let script = HostScript.text(
            program: host.skein, release: release,
            system: "\(demand.here.system) \(demand.here.architecture)")
        let path = release?.path ?? "/dev/null"
        let input = open(path, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else {
            throw FileError.failed(operation: "open", path: path, code: errno)
        }
        do {
            // ssh gives up before launch does on a connection that hangs: it knows more.
            let process = try ChildProcess.start(
                SSHBackend.words(
                    ssh, connectTimeout: max(1, Int(patience.silence.components.seconds) / 2),
                    host.destination, script),
                reading: input)
            let now = ContinuousClock.now
            return Inquiry(host: host, process: process, input: input, began: now, changed: now)
        } catch {
            close(input)
            throw error
        }
    }

    /// Sleeps until a client writes something or ends, 50 ms at most.
    private func wait(for inquiries: [Inquiry]) {
        // A stream that has ended would be ready at once, again and again; poll skips -1.
        var descriptors = inquiries.map {
            pollfd(fd: $0.isOpen ? $0.process.output : -1, events: Int16(POLLIN), revents: 0)
        }
        _ = poll(&descriptors, nfds_t(descriptors.count), 50)
    }

    /// Reads what a client has written.
    ///
    /// - Returns: the host, when its check is over; its client is then gone.
    private func advance(_ inquiry: inout Inquiry) -> CheckedHost? {
        // Before reading, so that nothing is missed that came before the end.
        let ending = inquiry.process.ending()
        read(&inquiry)
        let problem = self.problem(inquiry)
        guard ending != nil || problem != nil else { return nil }
        if ending == nil { inquiry.process.end() } else { inquiry.process.closeStreams() }
        close(inquiry.input)
        if let problem { return CheckedHost(inquiry.host, problem) }
        return CheckedHost(
            inquiry.host, inquiry.answer, ending: ending ?? .exited(0),
            errors: String(decoding: inquiry.errors, as: UTF8.self), demand: demand,
            time: inquiry.heard ?? Self.clock())
    }

    /// In seconds since 1970.
    private static func clock() -> Int { Int(Date().timeIntervalSince1970) }

    private func read(_ inquiry: inout Inquiry) {
        let (output, isOpen) = ChildProcess.available(inquiry.process.output)
        inquiry.isOpen = isOpen
        let errors = ChildProcess.available(inquiry.process.error).bytes
        let taken = release == nil ? 0 : lseek(inquiry.input, 0, SEEK_CUR)
        if !output.isEmpty || !errors.isEmpty || taken != inquiry.taken {
            inquiry.changed = .now
        }
        inquiry.answer.read(output)
        if inquiry.answer.unixTime != nil, inquiry.heard == nil { inquiry.heard = Self.clock() }
        inquiry.errors += errors.prefix(Limits.answerBytes)
        inquiry.byteCount += output.count + errors.count
        inquiry.taken = taken
    }

    /// Why a client is not waited for any longer.
    private func problem(_ inquiry: Inquiry) -> HostProblem? {
        if inquiry.byteCount > Limits.answerBytes { return .floods }
        let now = ContinuousClock.now
        let (silence, all) = (now - inquiry.changed, now - inquiry.began)
        let limit = inquiry.answer.isCopying ? patience.copy : patience.answer
        let most = inquiry.answer.isReceived ? patience.unpacking : patience.silence
        guard silence > most || all > limit else { return nil }
        let isCopying = inquiry.answer.isCopying && !inquiry.answer.isReceived
        let stage: HostProblem.Stage =
            inquiry.answer.system == nil
            ? .connecting
            : isCopying
                ? .copying(Int(inquiry.taken), of: release?.byteCount ?? 0) : .answering
        return .silent(
            stage, seconds: Int((silence > most ? silence : all).components.seconds))
    }

    private func tell(
        _ before: HostAnswer, _ after: HostAnswer, _ name: String, _ say: (String, String) -> Void
    ) {
        guard let release else { return }
        if after.isPresent, !before.isPresent { say(name, "has the release already") }
        if after.isCopying, !before.isCopying {
            say(name, "is sent the release (\(Figures.bytes(release.byteCount)))")
        }
        if after.isReceived, !before.isReceived { say(name, "has the release, and unpacks it") }
    }
}
