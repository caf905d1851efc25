import Foundation
import SkeinBasics
import SkeinLaunch
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCommands

@Suite struct ClusterCommandTests {
    private static let training = ArgumentParserTests.required

    private static func coordinator(_ words: String...) throws -> CoordinatorCommand {
        try CoordinatorCommand(
            ArgumentParser.parse(training + words, by: CoordinatorCommand.table))
    }

    private static func worker(_ words: String...) throws -> WorkerCommand.Options {
        try WorkerCommand(ArgumentParser.parse(words, by: WorkerCommand.table)).options
    }

    private static func launch(_ words: String...) throws -> LaunchCommand {
        try LaunchCommand(ArgumentParser.parse(training + words, by: LaunchCommand.table))
    }

    private static func status(_ words: String...) throws -> StatusCommand.Options {
        try StatusCommand(ArgumentParser.parse(words, by: StatusCommand.table)).options
    }

    @Test("a coordinator that is refused at the start creates no output directory")
    func refusedBeforeOutput() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<8).map { "{\"prompt\": \"\($0)\", \"completion\": \"answer\"}\n" }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            let process = CapturedProcess()
            let status = process.run(
                "coordinator", "--listen", "127.0.0.1:0", "--model", directory + "/tiny.gguf",
                "--data", directory + "/rows.jsonl", "--output", directory + "/run",
                "--no-token-cache", "--min-workers", "65536")
            #expect(status == 74, "\(process.error)")
            #expect(!FileManager.default.fileExists(atPath: directory + "/run"))
        }
    }

    @Test("a coordinator takes its own options and all training options, with their defaults")
    func coordinator() throws {
        #expect(
            try Self.coordinator().options
                == CoordinatorCommand.Options(
                    listen: Endpoint(host: "127.0.0.1", port: 7534), tokenFile: nil,
                    localWorkers: 0, admitsOtherEngines: false,
                    training: ArgumentParserTests.train()))
        let given = try Self.coordinator(
            "--listen", "0.0.0.0:99", "--token-file", "t", "--local-workers", "2", "--rank", "4",
            "--admit-other-engines", "--min-workers", "3", "--patience", "5m", "--resume"
        ).options
        #expect(given.listen == Endpoint(host: "0.0.0.0", port: 99))
        #expect(given.tokenFile == "t")
        #expect(given.localWorkers == 2)
        #expect(given.admitsOtherEngines)
        #expect(given.training.configuration.rank == 4)
        #expect(given.training.configuration.minWorkers == 3)
        #expect(given.training.configuration.patience == .seconds(300))
        #expect(given.training.resume)
        // A sweep is of one process, and a coordinator has no weights to measure an adapter with.
        for option in TrainCommand.table.options
        where !["sweep", "no-advice"].contains(option.name) {
            #expect(CoordinatorCommand.table.option(named: option.name) != nil, "\(option.name)")
            #expect(LaunchCommand.table.option(named: option.name) != nil, "\(option.name)")
        }
    }

    @Test("a worker takes the address to dial, a name, a model and machine options")
    func worker() throws {
        #expect(
            try Self.worker("--coordinator", "localhost")
                == WorkerCommand.Options(
                    coordinator: Endpoint(host: "localhost", port: 7534), tokenFile: nil,
                    model: nil, threads: nil, name: nil, patience: .seconds(60), weights: .auto))
        #expect(
            try Self.worker(
                "--coordinator", "[fe80::1%eth0]:1", "--token-file", "t", "--model", "m",
                "--threads", "3", "--name", "a-1.b_c", "--patience", "2501ms", "--weights",
                "streamed")
                == WorkerCommand.Options(
                    coordinator: Endpoint(host: "fe80::1%eth0", port: 1), tokenFile: "t",
                    model: "m", threads: 3, name: "a-1.b_c", patience: .milliseconds(2501),
                    weights: .streamed))
    }

    @Test("status takes --why and --json, and prints a table without them")
    func status() throws {
        #expect(try Self.status("--coordinator", "127.0.0.1:5").form == .table)
        #expect(try Self.status("--coordinator", "127.0.0.1:5", "--why").form == .why)
        #expect(try Self.status("--coordinator", "127.0.0.1:5", "--json").form == .json)
    }

    @Test("every address but loopback needs a token")
    func tokens() throws {
        for address in ["10.0.0.5:7534", "0.0.0.0:7534", "example.org:7534", "[::]:7534"] {
            let error = UsageError.tokenNeeded(
                option: "listen", address: address, command: "coordinator")
            #expect(throws: error) { try Self.coordinator("--listen", address) }
            #expect(error.explanation.status == .usage)
            _ = try Self.coordinator("--listen", address, "--token-file", "t")
        }
        for address in ["127.0.0.1:1", "127.8.9.1:1", "localhost:1", "[::1]:1"] {
            _ = try Self.coordinator("--listen", address)
            _ = try Self.worker("--coordinator", address)
        }
        #expect(
            throws: UsageError.tokenNeeded(
                option: "coordinator", address: "127.evil.org:1", command: "worker")
        ) { try Self.worker("--coordinator", "127.evil.org:1") }
        #expect(
            throws: UsageError.tokenNeeded(
                option: "coordinator", address: "h:7534", command: "status")
        ) { try Self.status("--coordinator", "h") }
    }

    @Test("bad patiences, addresses and names, and --why with --json, are refused")
    func refusals() {
        #expect(throws: UsageError.patienceTooShort(.milliseconds(2500))) {
            try Self.coordinator("--patience", "2500ms")
        }
        #expect(throws: UsageError.self) {
            try Self.worker("--coordinator", "localhost", "--patience", "2500ms")
        }
        #expect(throws: UsageError.self) { try Self.worker("--coordinator", "localhost:0") }
        #expect(throws: UsageError.self) {
            try Self.worker("--coordinator", "0.0.0.0:1", "--token-file", "t")
        }
        #expect(
            throws: UsageError.excludes(option: "why", other: "json", command: "status")
        ) { try Self.status("--coordinator", "localhost", "--why", "--json") }
        for name in ["", "a b", "ä", "a/b", String(repeating: "x", count: 65)] {
            #expect(throws: UsageError.self, "\(name)") {
                try Self.worker("--coordinator", "localhost", "--name", name)
            }
        }
    }

    @Test("launch takes --local or --hosts, and --hosts needs an address that hosts can dial")
    func launchPlaces() throws {
        #expect(try Self.launch("--local", "2").options.place == .local(2))
        #expect(try Self.launch("--local", "2").options.listen.text == "127.0.0.1:0")
        #expect(throws: UsageError.needsOne(of: ["local", "hosts"], command: "launch")) {
            try Self.launch()
        }
        #expect(throws: UsageError.excludes(option: "local", other: "hosts", command: "launch")) {
            try Self.launch("--local", "2", "--hosts", "h", "--listen", "10.0.0.1:1")
        }
        #expect(throws: UsageError.needs(option: "hosts", other: "listen", command: "launch")) {
            try Self.launch("--hosts", "h")
        }
        #expect(throws: UsageError.notDiallable(address: "0.0.0.0:1", command: "launch")) {
            try Self.launch("--hosts", "h", "--listen", "0.0.0.0:1")
        }
        #expect(
            try Self.launch("--hosts", "h", "--listen", "10.0.0.1").options.place == .hosts("h"))
    }

    @Test("--copy-binary and --check-hosts need --hosts")
    func hostOptions() throws {
        for (option, words) in [
            ("copy-binary", ["--copy-binary", "r.tar.gz"]), ("check-hosts", ["--check-hosts"]),
        ] {
            let error = UsageError.needs(option: option, other: "hosts", command: "launch")
            #expect(throws: error) {
                try LaunchCommand(
                    ArgumentParser.parse(
                        Self.training + ["--local", "2"] + words, by: LaunchCommand.table))
            }
        }
        let options = try Self.launch(
            "--hosts", "h", "--listen", "10.0.0.1", "--copy-binary", "r", "--check-hosts"
        ).options
        #expect(options.release == "r" && options.checksHosts && !options.admitsOtherEngines)
    }

    @Test("a release's place on a host replaces the program of the host's line")
    func copiedPrograms() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try AtomicFile.write("0123456789abcdef", to: directory + "/token")
            try AtomicFile.write("a skein=/own\nb skein=/own\n", to: directory + "/hosts")
            let plan = try Self.launch("--hosts", directory + "/hosts", "--listen", "10.0.0.1")
                .plan(
                    program: "s", tokenFile: directory + "/token", cores: 2,
                    programs: ["b": "/home/me/.skein/x y/bin/skein"])
            let words = (0..<2).map { plan.worker($0, address: "10.0.0.1:1").words.last ?? "" }
            #expect(words[0].contains(" /own worker "))
            #expect(
                words[1].contains("/home/me/.skein/x y/bin/skein") && !words[1].contains("/own"))
        }
    }

    @Test("launch passes every training option to the coordinator, and their options to workers")
    func launchWords() throws {
        let command = try Self.launch(
            "--local", "3", "--rank", "4", "--shuffle=off", "--skip-bad-lines", "--resume",
            "--patience", "5m", "--weights", "streamed", "--log-format", "json",
            "--local-workers", "1", "--target-modules", "q_proj, v_proj")
        let plan = try command.plan(program: "/bin/skein", tokenFile: "run/token", cores: 8)
        let coordinator = plan.coordinator(address: nil, again: false).words
        #expect(coordinator.prefix(2) == ["/bin/skein", "coordinator"])
        let read = try CoordinatorCommand(
            ArgumentParser.parse(Array(coordinator.dropFirst(2)), by: CoordinatorCommand.table)
        ).options
        #expect(read.listen.text == "127.0.0.1:0")
        #expect(read.tokenFile == "run/token")
        #expect(read.localWorkers == 1)
        #expect(read.training == command.options.training)

        let worker = plan.worker(2, address: "127.0.0.1:40011").words
        #expect(worker.prefix(2) == ["/bin/skein", "worker"])
        #expect(
            try WorkerCommand(
                ArgumentParser.parse(Array(worker.dropFirst(2)), by: WorkerCommand.table)
            ).options
                == WorkerCommand.Options(
                    coordinator: Endpoint(host: "127.0.0.1", port: 40011), tokenFile: "run/token",
                    model: "m.gguf", threads: 2, name: "w3", patience: .seconds(300),
                    weights: .streamed))
    }

    @Test("a coordinator is restarted at the address that its workers know, with --resume")
    func comesBack() throws {
        let plan = try Self.launch("--local", "1").plan(
            program: "s", tokenFile: "t", cores: 2)
        #expect(!plan.coordinator(address: nil, again: false).words.contains("--resume"))
        let again = plan.coordinator(address: "127.0.0.1:40011", again: true).words
        #expect(again.contains("--resume") && again.contains("127.0.0.1:40011"))
        let resumed = try Self.launch("--local", "1", "--resume").plan(
            program: "s", tokenFile: "t", cores: 2)
        #expect(
            resumed.coordinator(address: nil, again: true).words.filter { $0 == "--resume" }.count
                == 1)
    }

    @Test("workers share the cores, and each has at least one thread")
    func threads() throws {
        for (words, cores, expected) in [
            (["--local", "2"], 8, 4), (["--local", "3"], 8, 2), (["--local", "16"], 8, 1),
            (["--local", "2", "--threads", "5"], 8, 5),
        ] {
            let parsed = try ArgumentParser.parse(
                Self.training + words, by: LaunchCommand.table)
            let plan = try LaunchCommand(parsed).plan(
                program: "s", tokenFile: "t", cores: cores)
            #expect(plan.workers.allSatisfy { $0.threads == expected }, "\(words)")
        }
    }

    @Test("a coordinator says how to start workers and which timeouts apply")
    func introduction() throws {
        let here = try Self.coordinator(
            "--listen", "127.0.0.1:0", "--token-file", "my token", "--min-workers", "2")
        #expect(
            [here.introduction(address: "127.0.0.1:40011")] + here.waits == [
                "start workers with: skein worker --coordinator 127.0.0.1:40011 --token-file "
                    + "'my token'",
                "peers: heartbeat every 0.5 s, suspect after 1.5 s of silence, lost after 2.5 s; "
                    + "patience 60 s",
                "waiting for 2 workers",
            ])
        let everywhere = try Self.coordinator("--listen", "0.0.0.0:0", "--token-file", "t")
            .introduction(address: "0.0.0.0:40011")
        #expect(!everywhere.contains("0.0.0.0"))
    }
}
