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
        func say(_ text: String) {
            switch format {
            case .text: writeError("[launch] \(text)\n")
            case .json:
                writeError(
                    JSONValue.fields([
                        ("from", .text("launch")), ("level", .text("info")),
                        ("message", .text(text)),
                    ]).written + "\n")
            }
        }
        let release = try options.release.map { try Release(path: $0) }
        say("checking \(Figures.count(file.count, "host"))")
        let check = HostCheck(
            file, release: release,
            demand: CheckedHost.Demand(
                here: .current(), compute: options.training.configuration.compute.rawValue,
                admitsOtherEngines: options.admitsOtherEngines, modelBytes: modelBytes))
        return try check.run(
            isInterrupted: { io.interrupt.isSet }, say: { name, text in say("\(name) \(text)") })
    }

    /// The size of the base model's file; nil for a folder.
    private var modelBytes: Int? {
        var status = stat()
        guard stat(options.training.model, &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Int(status.st_size)
    }
}
