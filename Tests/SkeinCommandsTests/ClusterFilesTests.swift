import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTestSupport
import Testing

@testable import SkeinCommands
@testable import SkeinLaunch

/// The files in Cluster/: data and launchers, each run as far as one machine can.
@Suite struct ClusterFilesTests {
    private static let cluster = URL(fileURLWithPath: TestPaths.fixture("help"))
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Cluster").path

    private struct Ending: Equatable {
        var status: Int32
        var output: String
    }

    /// Runs a program to its end; its standard error goes to its standard output.
    ///
    /// Not with Foundation's Process, which waits for a socket that remaining children inherit.
    private static func run(
        _ words: [String], in directory: String = "/", environment: [String: String] = [:]
    ) throws -> Ending {
        let child = try ChildProcess.start(
            ["env"] + environment.map { "\($0.key)=\($0.value)" }
                + ["sh", "-c", "cd \"$0\" && exec \"$@\" 2>&1 </dev/null", directory] + words)
        defer { child.closeStreams() }
        var bytes: [UInt8] = []
        var ending: ChildProcess.Ending?
        func readAll() {
            var chunk = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(child.output, &chunk, chunk.count)
                guard count > 0 else { return }
                bytes += chunk[..<count]
            }
        }
        try Deadline.wait {
            readAll()
            ending = child.ending()
            return ending != nil
        }
        readAll()
        var status: Int32 = -1
        if case .exited(let code) = ending { status = code }
        return Ending(status: status, output: String(decoding: bytes, as: UTF8.self))
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test("scripts are short, strict and well-formed", arguments: ["local/run", "hosts/workers"])
    func scripts(name: String) throws {
        let path = Self.cluster + "/" + name
        let text = try Self.text(path)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 61)
        #expect(text.contains("\nset -euo pipefail\n"))
        #expect(FileManager.default.isExecutableFile(atPath: path))
        #expect(try Self.run(["bash", "-n", path]) == Ending(status: 0, output: ""))
        #expect(try Self.run([path]).status == 64)
    }

    @Test(
        "scripts of tests are short, strict and well-formed",
        arguments: ["systemd/boot", "kubernetes/check", "kubernetes/rehearse"])
    func testScripts(name: String) throws {
        let path = Self.cluster + "/" + name
        let text = try Self.text(path)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 61)
        #expect(text.contains("\nset -euo pipefail\n"))
        #expect(FileManager.default.isExecutableFile(atPath: path))
        #expect(try Self.run(["bash", "-n", path]) == Ending(status: 0, output: ""))
    }

    @Test("the local script runs launch --local")
    func local() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try ShellScript.write("echo \"$@\"", at: directory + "/skein")
            let ending = try Self.run(
                [Self.cluster + "/local/run", "2", "m.gguf", "d.jsonl", "out", "--rank", "4"],
                environment: ["SKEIN": directory + "/skein"])
            #expect(
                ending
                    == Ending(
                        status: 0,
                        output: "launch --local 2 --model m.gguf --data d.jsonl --output out "
                            + "--rank 4\n"))
            let none = try Self.run(
                [Self.cluster + "/local/run", "2", "m", "d", "o"],
                environment: ["SKEIN": directory + "/nothing"])
            #expect(none.status == 64)
        }
    }

    @Test("the example of a host file is valid")
    func hostFile() throws {
        let path = Self.cluster + "/hosts/hosts.example"
        let file = try HostFile(Self.text(path), path: path)
        #expect(file.hosts.map(\.name) == ["10.0.0.7", "rack2", "backup"])
        #expect(file.hosts.map(\.threads) == [8, nil, nil])
    }

    @Test("the script for hosts starts, watches and stops workers")
    func hosts() throws {
        try TestPaths.withTemporaryDirectory { directory in
            // Does what sshd does, with its own home.
            try ShellScript.write(
                """
                echo "$@" >>'\(directory)/ssh.log'
                while [ "${1#-}" != "$1" ]; do
                    case $1 in -o) shift 2 ;; *) shift ;; esac
                done
                shift; HOME='\(directory)/home'; cd "$HOME"; exec sh -c "$*"
                """, at: directory + "/ssh")
            try AtomicFile.makeDirectory(directory + "/home")
            let program = directory + "/bin-skein"
            try ShellScript.write(
                "echo \"$@\"; trap 'echo left; exit 0' TERM; while :; do sleep 0.02; done",
                at: program)
            try AtomicFile.write("0123", to: directory + "/token")
            try AtomicFile.write(
                "# ours\nme@h1 threads=2 skein=\(program) model=/m.gguf name=a1 # one\n",
                to: directory + "/hosts")
            let environment = [
                "PATH": directory + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
            ]
            let workers = Self.cluster + "/hosts/workers"
            let started = try Self.run(
                [workers, "start", "hosts", "10.0.0.5:7534", "token"], in: directory,
                environment: environment)
            #expect(started.status == 0)
            #expect(started.output.hasPrefix("started a1 on me@h1"))
            let home = directory + "/home/.skein"
            try Deadline.wait { (try? Self.text(home + "/a1.log"))?.isEmpty == false }
            #expect(
                try Self.text(home + "/a1.log")
                    == "worker --coordinator 10.0.0.5:7534 --name a1 --threads 2 --model /m.gguf "
                    + "--token-file \(home)/a1.token\n")
            #expect(try Self.text(home + "/a1.token") == "0123")
            #expect(try !Self.text(directory + "/ssh.log").contains("0123"))
            let mode = try FileManager.default.attributesOfItem(atPath: home + "/a1.token")
            #expect(mode[.posixPermissions] as? Int == 0o600)

            let stopped = try Self.run(
                [workers, "stop", "hosts"], in: directory, environment: environment)
            #expect(stopped == Ending(status: 0, output: "stopped a1 on me@h1\n"))
            try Deadline.wait {
                (try? Self.text(home + "/a1.log"))?.hasSuffix("left\n") == true
            }
            let again = try Self.run(
                [workers, "stop", "hosts"], in: directory, environment: environment)
            #expect(again.output.hasSuffix("a1 does not run on me@h1\n"))

            try ShellScript.write("echo \"$@\"; [ ! -e seen ] && : >seen", at: directory + "/skein")
            let watched = try Self.run(
                [workers, "watch", "h:1", "token"], in: directory,
                environment: environment.merging(["INTERVAL": "0"]) { $1 })
            let line = "status --coordinator h:1 --token-file token --why\n"
            #expect(watched == Ending(status: 0, output: line + line))

            try AtomicFile.write("h thread=2\n", to: directory + "/hosts")
            let bad = try Self.run(
                [workers, "stop", "hosts"], in: directory, environment: environment)
            #expect(bad == Ending(status: 65, output: "error: \"thread=2\" in hosts\n"))
        }
    }

    private static let analyze = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(
        "units pass systemd-analyze verify, and security with 3.0 at most",
        arguments: ["skein-coordinator", "skein-worker"])
    func units(name: String) throws {
        let text = try Self.text(Self.cluster + "/systemd/\(name).service")
        for line in [
            "Type=notify", "NotifyAccess=main", "WatchdogSec=120", "Restart=on-failure",
            "RestartPreventExitStatus=64 65", "KillSignal=SIGTERM",
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
        guard let analyze = Self.analyze else {
            print("skipped: there is no systemd-analyze here to verify \(name).service")
            return
        }
        try TestPaths.withTemporaryDirectory { directory in
            // The program that the unit names may not be installed here.
            let unit = directory + "/\(name).service"
            try AtomicFile.write(
                text.replacing("/usr/local/bin/skein", with: TestPaths.binary), to: unit)
            let ending = try Self.run([analyze, "verify", unit])
            #expect(ending == Ending(status: 0, output: ""))
            // The scale ends at 10.0, and 3.0 is allowed, in tenths. Debian 12's systemd counts 1.5
            // for both.
            let exposure = try Self.run(
                [analyze, "security", "--offline=true", "--threshold=30", "--no-pager", unit])
            #expect(exposure.status == 0, "\(exposure.output)")
            #expect(exposure.output.contains("Overall exposure level for \(name).service: "))
        }
    }

    @Test("docs/OPERATING.md says what each reject code means", arguments: RejectCode.allCases)
    func rejectCodes(code: RejectCode) throws {
        let text = try Self.text(Self.cluster + "/../docs/OPERATING.md")
        let name = "\(code)".reduce(into: "") { name, letter in
            name += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
        #expect(text.contains("\n| \(name) | "), "\(name)")
    }

    @Test("the command lines of the units are accepted")
    func unitCommands() throws {
        for name in ["coordinator", "worker"] {
            let unit = try Self.text(Self.cluster + "/systemd/skein-\(name).service")
            var line = try #require(
                unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })[...]
            line = line.dropFirst("ExecStart=/usr/local/bin/skein ".count)
            var text = String(line)
            let settings = try Self.text(Self.cluster + "/systemd/\(name).env.example")
            for setting in settings.split(separator: "\n") where setting.hasPrefix("SKEIN_") {
                let parts = setting.split(separator: "=", maxSplits: 1)
                text = text.replacing("${\(parts[0])}", with: parts[1])
                    .replacing("$\(parts[0])", with: parts[1])
            }
            #expect(!text.contains("$"))
            let words = text.split(separator: " ").map(String.init)
            let command = try #require(
                CommandLineTool.skein.commands.first { $0.table.command == words[0] })
            _ = try command.init(
                ArgumentParser.parse(Array(words.dropFirst()), by: command.table))
        }
    }

    /// The lists below `args:` in a manifest.
    private static func arguments(in manifest: String) -> [[String]] {
        var lists: [[String]] = []
        var isList = false
        for line in manifest.split(separator: "\n").map({ $0.trimmingPrefix { $0 == " " } }) {
            if line == "args:" {
                lists.append([])
                isList = true
            } else if isList, line.hasPrefix("- ") {
                lists[lists.count - 1].append(String(line.dropFirst(2)))
            } else if !line.hasPrefix("#") {
                isList = false
            }
        }
        return lists
    }

    @Test(
        "the command lines of the pods are accepted",
        arguments: ["coordinator.yaml", "workers.yaml", "job/job.yaml"])
    func podCommands(name: String) throws {
        let text = try Self.text(Self.cluster + "/kubernetes/" + name)
        for line in [
            "runAsNonRoot: true", "readOnlyRootFilesystem: true", "allowPrivilegeEscalation: false",
            "drop: [ALL]", "type: RuntimeDefault", "automountServiceAccountToken: false",
            "defaultMode: 0440", "fsGroup: 10001",
        ] {
            #expect(text.contains(line), "\(line)")
        }
        let lists = Self.arguments(in: text)
        #expect(lists.count == 1)
        let words = try #require(lists.first).map {
            $0.replacing("$(CPUS)", with: "4").replacing("$(POD)", with: "skein-worker-5d9c7-x2x4z")
        }
        #expect(!words.contains { $0.contains("$") })
        let command = try #require(
            CommandLineTool.skein.commands.first { $0.table.command == words[0] })
        let parsed = try ArgumentParser.parse(Array(words.dropFirst()), by: command.table)
        _ = try command.init(parsed)
    }

    @Test("the ports and addresses of the manifests are the command lines'")
    func podPorts() throws {
        let coordinator = try Self.text(Self.cluster + "/kubernetes/coordinator.yaml")
        let words = try #require(Self.arguments(in: coordinator).first)
        let parsed = try ArgumentParser.parse(
            Array(words.dropFirst()), by: CoordinatorCommand.table)
        let ports = [
            "skein": parsed[ClusterFlags.listen].port,
            "status": try #require(try LiveStatus(parsed)).address.port,
        ]
        for (name, port) in ports {
            #expect(coordinator.contains("{name: \(name), containerPort: \(port)}"))
            #expect(coordinator.contains("{name: \(name), port: \(port), targetPort: \(name)}"))
        }
        // SkeinCluster's tests show that both are answered without a token.
        for path in ["/healthz", "/readyz"] {
            #expect(coordinator.contains("httpGet: {path: \(path), port: status}"))
        }
        let network = try Self.text(Self.cluster + "/kubernetes/network.yaml")
        #expect(network.contains("port: \(parsed[ClusterFlags.listen].port)}"))
        let workers = try Self.text(Self.cluster + "/kubernetes/workers.yaml")
        #expect(
            workers.contains(
                "--coordinator=skein-coordinator:\(parsed[ClusterFlags.listen].port)\n"))
        #expect(coordinator.contains("kind: Service\nmetadata:\n  name: skein-coordinator\n"))
        let job = try Self.text(Self.cluster + "/kubernetes/job/job.yaml")
        #expect(job.contains("kind: Job\nmetadata:\n  name: skein-job\n"))
        #expect(job.contains("kind: Service\nmetadata:\n  name: skein-job\n"))
        #expect(job.contains("subdomain: skein-job\n"))
        #expect(job.contains("{name: SKEIN_COORDINATOR, value: \"skein-job-0.skein-job:7534\"}"))
    }
}
