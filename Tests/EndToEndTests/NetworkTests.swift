import Foundation
import SkeinLab
import SkeinTestSupport
import SkeinTraining
import Testing

/// Coordinator and workers on separate hosts: addresses, a token, and a cable to be pulled.
@Suite("network", .ownThreads)
struct NetworkTests {
    private static let missing = Comment(
        rawValue: "needs root, iproute2 and network namespaces: "
            + (NetworkNamespaces.obstacle ?? ""))

    /// A coordinator in the middle and a worker on each of two hosts.
    private struct Hosts {
        let bench: Workbench
        let network: NetworkNamespaces
        let coordinator: SkeinProcess
        var workers: [SkeinProcess] = []

        init(_ bench: Workbench, _ network: NetworkNamespaces, _ options: [String]) throws {
            self.bench = bench
            self.network = network
            let token = try bench.write(String(repeating: "k3y", count: 20), to: "token")
            chmod(token, 0o600)
            coordinator = try SkeinProcess(
                [
                    "coordinator", "--listen", "0.0.0.0:7534", "--token-file", token, "--model",
                    bench.model, "--data", bench.data, "--output", bench.path("hosts"),
                ] + TrainingConfiguration.fixedWords + options, shell: network.shell(on: 0))
            try coordinator.waitForError("listening on 0.0.0.0:7534")
            for host in 1...2 {
                // Without --model: it is fetched over the cable, into a cache of this host.
                let shell =
                    "export SKEIN_CACHE='\(bench.path("cache\(host)"))'; "
                    + network.shell(on: host)
                workers.append(
                    try SkeinProcess(
                        [
                            "worker", "--coordinator", network.middle(from: host), "--token-file",
                            token, "--name", "host\(host)", "--threads", "1",
                        ], shell: shell))
            }
        }

        /// How often a worker has been let in.
        func joins(of host: Int) -> Int {
            coordinator.errorText.split(separator: "\n").count {
                $0.contains("worker host\(host) (10.77.\(host).2:") && $0.contains(" joins ")
            }
        }

        var steps: Int {
            let path = bench.path("hosts/metrics.jsonl")
            let data = FileManager.default.contents(atPath: path) ?? Data()
            return data.count { $0 == 0x0A }
        }

        func wait(
            for what: String, seconds: Double = SkeinProcess.patience, _ isDone: () -> Bool,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let deadline = ContinuousClock.now + .seconds(seconds)
            while !isDone() {
                try #require(
                    ContinuousClock.now < deadline && coordinator.isRunning,
                    "\(what): \(coordinator.errorText.suffix(4000))",
                    sourceLocation: sourceLocation)
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    @Test(
        "workers on other hosts prove the token, fetch the model, and give the same bytes",
        .enabled(if: NetworkNamespaces.obstacle == nil, missing))
    func oneHash() throws {
        try Workbench.with { bench in
            let run = ["--epochs", "4", "--checkpoint-every", "3"]
            try bench.train("alone", run)
            try NetworkNamespaces.with(hosts: 2) { network in
                let hosts = try Hosts(bench, network, run + ["--min-workers", "2"])
                let ending = try hosts.coordinator.wait()
                #expect(ending.status == 0, "\(ending.error)")
                for worker in hosts.workers {
                    let ending = try worker.wait()
                    #expect(ending.status == 0, "\(ending.error)")
                    #expect(ending.error.contains("model ready after"))
                }
                #expect(hosts.joins(of: 1) == 1 && hosts.joins(of: 2) == 1)
            }
            #expect(try bench.result(of: "hosts") == bench.result(of: "alone"))
            try verifyLedger(bench, of: "hosts", steps: 32)
        }
    }

    @Test(
        "a cable that is pulled for longer than a silence may last costs a worker, not the run",
        .enabled(if: NetworkNamespaces.obstacle == nil, missing))
    func pulledCable() throws {
        try Workbench.with { bench in
            let run = ["--epochs", "100000", "--validation-split", "0", "--checkpoint-every", "0"]
            try NetworkNamespaces.with(hosts: 2) { network in
                let hosts = try Hosts(bench, network, run)
                try hosts.wait(for: "both join") {
                    hosts.joins(of: 1) == 1 && hosts.joins(of: 2) == 1 && hosts.steps > 3
                }
                try network.setCable(of: 2, isUp: false)
                // Nothing closes the connection: only the silence tells.
                try hosts.wait(for: "the silence is noticed") {
                    hosts.coordinator.errorText.contains("host2 (10.77.2.2:")
                        && hosts.coordinator.errorText.contains("silent for ")
                }
                let before = hosts.steps
                Thread.sleep(forTimeInterval: 1)
                #expect(hosts.steps > before, "the other worker went on alone")
                try network.setCable(of: 2, isUp: true)
                try hosts.wait(for: "it comes back") { hosts.joins(of: 2) == 2 }
                let again = hosts.steps
                try hosts.wait(for: "steps with both") { hosts.steps > again + 5 }
                #expect(hosts.joins(of: 1) == 1)
                hosts.coordinator.send(SIGTERM)
                #expect(try hosts.coordinator.wait().status == 130)
            }
            // With a constant learning rate, that many steps alone are the beginning of that run.
            let steps = try bench.metrics(of: "hosts").count
            try bench.train(
                "alone", ["--iterations", String(steps), "--validation-split", "0"])
            let file = "checkpoints/step-\(String(format: "%06d", steps))/adapter_model.safetensors"
            #expect(
                try bench.digests(of: "hosts")[file] == bench.digests(of: "alone")[file],
                "after \(steps) steps")
            #expect(try bench.digests(of: "hosts")[file] != nil)
            try verifyLedger(bench, of: "hosts", steps: steps)
        }
    }
}
