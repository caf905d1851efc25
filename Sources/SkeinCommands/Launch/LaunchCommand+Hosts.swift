import Foundation
import SkeinBasics
import SkeinJSON
import SkeinLaunch
import SkeinModels
import SkeinTraining

// What launch asks of hosts before it starts anything.
extension LaunchCommand {
    /// `--check-hosts`: the table is the result.
    ///
    /// - Throws: `LaunchError.hostsFailed` unless all can take part.
    func check(_ hosts: (file: HostFile, path: String), _ io: CommandIO) throws {
        let checked = try inquire(hosts.file, io)
        switch io.log.format {
        case .text: try io.write(CheckedHost.text(checked))
        case .json: for host in checked { try io.print(json: host.fields) }
        }
        try CheckedHost.require(checked, path: hosts.path)
    }

    /// Checks the hosts and copies a release if there is one.
    ///
    /// - Returns: the path of the copied `skein` on each host, by the host's name.
    /// - Throws: `LaunchError.hostsFailed` unless all can take part.
    func checkBeforeStart(
        _ hosts: (file: HostFile, path: String), _ io: CommandIO
    ) throws -> [String: String] {
        let checked = try inquire(hosts.file, io)
        switch io.log.format {
        case .text: io.writeError(CheckedHost.text(checked))
        case .json:
            for host in checked { io.writeError(JSONValue.fields(host.fields).written + "\n") }
        }
        try CheckedHost.require(checked, path: hosts.path)
        guard options.release != nil else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: checked.compactMap { host in
                host.program.map { (host.name, $0) }
            })
    }

    private func inquire(_ file: HostFile, _ io: CommandIO) throws -> [CheckedHost] {
        let (format, writeError) = (io.log.format, io.writeError)
        func say(
            _ text: String, _ level: Log.Level = .info, _ facts: [(String, JSONValue)] = []
        ) {
            switch format {
            case .text:
                writeError("[launch] \(level == .info ? "" : "\(level.rawValue): ")\(text)\n")
            case .json:
                writeError(
                    JSONValue.fields(
                        [
                            ("from", .text("launch")), ("level", .text(level.rawValue)),
                            ("message", .text(text)),
                        ] + facts
                    ).written + "\n")
            }
        }
        let release = try options.release.map { try Release(path: $0) }
        say("checking \(Figures.count(file.count, "host"))")
        let here = MachineReport.current()
        let compute = options.training.configuration.compute.rawValue
        let check = HostCheck(
            file, release: release,
            demand: CheckedHost.Demand(
                here: here, compute: compute, admitsOtherEngines: options.admitsOtherEngines,
                modelBytes: modelBytes))
        let checked = try check.run(
            isInterrupted: { io.interrupt.isSet }, say: { name, text in say("\(name) \(text)") })
        if options.training.beginsRun, let advice = advice(checked, here: here) {
            say(advice.sentence, advice.isWarning ? .warning : .info, advice.facts)
        }
        return checked
    }

    /// What the speeds of all hosts, and of this machine if it computes, say about the run's mode.
    func advice(_ hosts: [CheckedHost], here: MachineReport) -> ComputeAdvice? {
        let modes = CheckedHost.sharedModes(hosts, here: here)
        guard
            var machines = CheckedHost.speeds(hosts, threads: options.threads, modes: modes)
        else { return nil }
        if options.localWorkers > 0 {
            let rates = here.computeRates.filter { modes.contains($0.key) }
            machines.append(
                (ComputeAdvice.here, rates.mapValues { Double($0) * Double(options.localWorkers) }))
        }
        return ComputeAdvice(
            options.training.configuration.compute.rawValue, machines: machines)
    }

    /// The size of the base model's file; nil for a folder.
    private var modelBytes: Int? {
        var status = stat()
        guard stat(options.training.model, &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Int(status.st_size)
    }
}
