import Foundation
import SkeinBasics
import SkeinJSON

/// What a task writes about itself, for the other tasks and for people.
package struct TaskCard: Sendable, Equatable {
    /// nil: a worker without a rank, as in an array of jobs.
    package var rank: Int?
    package var host: String
    package var process: Int
    /// The launcher's name for people.
    package var launcher: String?
    package var job: String?
    package var restarts: Int
    /// Tells apart systems and network namespaces, which host names need not do.
    package var network: String?

    package init(
        rank: Int?, host: String, process: Int, launcher: String? = nil, job: String? = nil,
        restarts: Int = 0, network: String? = nil
    ) {
        self.rank = rank
        self.host = host
        self.process = process
        self.launcher = launcher
        self.job = job
        self.restarts = restarts
        self.network = network
    }

    /// The card of this process.
    ///
    /// - Parameter place: where it stands; nil: a worker without a rank.
    package init(_ place: TaskPlace?) {
        self.init(
            rank: place?.rank, host: Self.plain(ProcessInfo.processInfo.hostName),
            process: Int(ProcessInfo.processInfo.processIdentifier),
            launcher: place?.launcher?.title, job: place?.job, restarts: place?.restarts ?? 0,
            network: Self.networkIdentity)
    }

    /// "task 0 on n1, process 77, Slurm job 12, restarted 1 time".
    package var title: String {
        var parts = [
            (rank.map { "task \($0)" } ?? "a task") + " on \(host)", "process \(process)",
        ]
        if let launcher { parts.append(launcher + (job.map { " job \($0)" } ?? "")) }
        if restarts > 0 { parts.append("restarted \(Figures.count(restarts, "time"))") }
        return parts.joined(separator: ", ")
    }

    /// Whether both are tasks of one start of one job, though not the same process.
    package func isRival(of other: TaskCard) -> Bool {
        guard let job, job == other.job, launcher == other.launcher, restarts == other.restarts
        else { return false }
        return host != other.host || process != other.process || network != other.network
    }

    /// The system's boot and the process's network namespace; nil where the system has none.
    private static var networkIdentity: String? {
        #if os(Linux)
            var link = [CChar](repeating: 0, count: 128)
            let count = readlink("/proc/self/ns/net", &link, link.count - 1)
            // The system says that such a file is empty, so it is read until it ends.
            guard count > 0,
                let boot = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id")
            else { return nil }
            let namespace = link[..<count].map { UInt8(bitPattern: $0) }
            return plain(String(decoding: boot + namespace, as: UTF8.self))
        #else
            return nil
        #endif
    }

    /// The parts of a name that are safe in a line.
    private static func plain(_ text: String) -> String {
        String(
            text.prefix(253).filter {
                $0.isASCII && ($0.isLetter || $0.isNumber || "._-:[]".contains($0))
            })
    }
}

// As JSON.
extension TaskCard {
    var fields: [(String, JSONValue)] {
        func text(_ value: String?) -> JSONValue { value.map { .text($0) } ?? .null }
        return [
            ("rank", rank.map { .integer($0) } ?? .null), ("host", .text(host)),
            ("process", .integer(process)), ("launcher", text(launcher)), ("job", text(job)),
            ("restarts", .integer(restarts)), ("network", text(network)),
        ]
    }

    /// nil when a field is missing or is none of ours.
    init?(_ object: [JSONField]) {
        func text(_ name: String) -> String?? {
            guard let value = object[name], value != .null else { return .some(nil) }
            guard let text = value.string, text.utf8.count <= 256,
                text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
            else { return nil }
            return text
        }
        guard let host = object["host"]?.string, Self.plain(host) == host, !host.isEmpty,
            let process = object["process"]?.integer,
            let restarts = object["restarts"]?.integer,
            let launcher = text("launcher"), let job = text("job"), let network = text("network")
        else { return nil }
        self.init(
            rank: object["rank"]?.integer, host: host, process: process, launcher: launcher,
            job: job, restarts: restarts, network: network)
    }
}
