import SkeinBasics
import SkeinJSON

/// A host of the file, with what its check found. Pure.
package struct CheckedHost: Sendable, Equatable {
    package let name: String
    let destination: String
    /// Where `skein` is there.
    package internal(set) var program: String?
    var report: MachineReport?
    var problem: HostProblem?
    /// Those of its line in the file; nil: all of its cores.
    private var threads: Int?
    /// The same engine as this machine's.
    var hasEngine = false
    /// What may disturb, but does not keep it from taking part.
    var warnings: [String] = []

    /// What a run asks of a host.
    package struct Demand: Sendable {
        /// This machine.
        var here: MachineReport
        /// The run's `--compute`.
        var compute: String
        var admitsOtherEngines: Bool
        /// Bytes of the base model's file, which a worker without `model=` fetches; nil: not known.
        var modelBytes: Int?

        package init(
            here: MachineReport, compute: String, admitsOtherEngines: Bool, modelBytes: Int?
        ) {
            self.here = here
            self.compute = compute
            self.admitsOtherEngines = admitsOtherEngines
            self.modelBytes = modelBytes
        }
    }

    /// Clocks that differ by more are worth a warning.
    static let clockTolerance = 60

    init(_ host: HostFile.Host, _ problem: HostProblem) {
        name = host.name
        destination = host.destination
        threads = host.threads
        self.problem = problem
    }

    /// - Parameters:
    ///   - host: its line in the file.
    ///   - answer: what it said.
    ///   - ending: of ssh.
    ///   - errors: what ssh wrote on standard error.
    ///   - demand: what the run asks of it.
    ///   - time: this machine's clock at about the moment of the host's, in seconds since 1970.
    init(
        _ host: HostFile.Host, _ answer: HostAnswer, ending: ChildProcess.Ending, errors: String,
        demand: Demand, time: Int
    ) {
        name = host.name
        destination = host.destination
        threads = host.threads
        report = answer.report
        program = answer.path
        problem = answer.problem(
            ending: ending, errors: errors, program: host.skein, here: demand.here,
            compute: demand.compute, admitsOthers: demand.admitsOtherEngines)
        guard let report else { return }
        hasEngine = report.fingerprints[demand.compute] == demand.here.fingerprints[demand.compute]
        guard problem == nil else { return }
        if !hasEngine {
            warnings.append(
                "its engine gives other bits than this machine's, and is admitted: the result "
                    + "depends on which worker computes what")
        }
        if let threads = host.threads, threads > report.cores {
            warnings.append(
                "threads=\(threads), but it has \(Figures.count(report.cores, "core")) for skein")
        }
        if host.model == nil, let need = demand.modelBytes, let free = report.cacheFreeBytes,
            free < need
        {
            warnings.append(
                "\(Figures.bytes(free)) are free in \(report.cache), and the base model has "
                    + "\(Figures.bytes(need)): unless it is there already, free some space or write "
                    + "model=PATH")
        }
        let difference = answer.unixTime.map { $0.subtractingReportingOverflow(time) }
        if let (seconds, overflows) = difference,
            overflows || seconds.magnitude > UInt(Self.clockTolerance)
        {
            warnings.append(
                "its clock is \(Self.text(ofSeconds: seconds.magnitude)) "
                    + "\(seconds < 0 ? "behind" : "ahead"): the run does not mind, but log times differ"
            )
        }
    }

    private static func text(ofSeconds seconds: UInt) -> String {
        switch seconds {
        case ..<600: "\(seconds) s"
        case ..<36_000: "\(seconds / 60) min"
        case ..<864_000: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}

extension CheckedHost {
    /// The hosts as a table, and below it what is wrong with each and how to mend it.
    package static func text(_ hosts: [CheckedHost]) -> String {
        var text = TextTable.text(
            [["host", "state", "skein", "system", "engine", "cores", "memory", "cache free"]]
                + hosts.map(\.cells), leftColumns: 5)
        for host in hosts {
            if let problem = host.problem {
                let (what, remedy) = problem.sentences(host: host.destination)
                text += "\(host.name): \(what)\n  fix: \(remedy)\n"
            }
            for warning in host.warnings { text += "warning: \(host.name): \(warning)\n" }
        }
        return text
    }

    private var cells: [String] {
        let state = problem?.label ?? (warnings.isEmpty ? "ok" : "ok, warned")
        guard let report else {
            let version = if case .otherVersion(let found, _) = problem { found } else { "-" }
            return [name, state, version, "-", "-", "-", "-", "-"]
        }
        func bytes(_ count: Int?) -> String { count.map { Figures.bytes($0) } ?? "-" }
        return [
            name, state, report.version, "\(report.system) \(report.architecture)",
            hasEngine ? "same" : "other", "\(report.cores)", bytes(report.memoryBytes),
            bytes(report.cacheFreeBytes),
        ]
    }

    /// The same facts for a program, as a line of a log.
    package var fields: [(String, JSONValue)] {
        let sentences = problem?.sentences(host: destination)
        let level = problem != nil ? "error" : warnings.isEmpty ? "info" : "warning"
        return [
            ("level", .text(level)),
            ("message", .text("host \(name): \(problem?.label ?? "ok")")),
            ("event", .text("host")), ("host", .text(name)),
            ("destination", .text(destination)), ("ok", .bool(problem == nil)),
            ("problem", problem.map { .text($0.label) } ?? .null),
            ("what", sentences.map { .text($0.what) } ?? .null),
            ("fix", sentences.map { .text($0.remedy) } ?? .null),
            ("warnings", .list(warnings.map { .text($0) })),
            ("machine", report.map { .fields($0.fields) } ?? .null),
        ]
    }

    /// How fast each host multiplies in each mode of `--compute`, with all threads of its worker.
    ///
    /// - Parameters:
    ///   - hosts: all of the file.
    ///   - usual: the threads of a host whose line names none; nil: all of its cores.
    ///   - modes: those of which speeds are asked for.
    /// - Returns: operations per second by mode, by host; nil unless all can take part and say them.
    package static func speeds(
        _ hosts: [CheckedHost], threads usual: Int?, modes: [String]
    ) -> [(name: String, speeds: [String: Double])]? {
        var found: [(name: String, speeds: [String: Double])] = []
        for host in hosts {
            guard host.problem == nil, let report = host.report else { return nil }
            let threads = Double(host.threads ?? usual ?? report.cores)
            var speeds: [String: Double] = [:]
            for mode in modes {
                guard let rate = report.computeRates[mode], rate > 0 else { return nil }
                speeds[mode] = Double(rate) * threads
            }
            found.append((host.name, speeds))
        }
        return found
    }

    /// Modes in which all hosts have this machine's engine, so that a run could have them.
    package static func sharedModes(_ hosts: [CheckedHost], here: MachineReport) -> [String] {
        here.fingerprints.filter { mode, fingerprint in
            hosts.allSatisfy { $0.report?.fingerprints[mode] == fingerprint }
        }.keys.sorted()
    }

    /// - Throws: `LaunchError.hostsFailed` unless all can take part: the status says whether one of
    ///   them is away, which may pass, or not as it should be.
    package static func require(_ hosts: [CheckedHost], path: String) throws(LaunchError) {
        let failed = hosts.filter { $0.problem != nil }
        guard !failed.isEmpty else { return }
        let isAway = failed.contains { $0.problem?.isAbsence == true }
        throw .hostsFailed(
            names: failed.map(\.name), of: hosts.count, path: path,
            status: isAway ? .peerGone : .badData)
    }
}
