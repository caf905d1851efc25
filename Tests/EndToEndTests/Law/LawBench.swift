import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// A recipe's runs side by side in one folder.
struct LawBench {
    /// What two runs of one recipe have in common.
    struct Outcome: Equatable {
        /// SHA-256 of each file of the adapter and the checkpoints.
        var files: [String: String]
        /// Without clocks, and without who computed.
        var metrics: [String]
        /// Lines of the ledger, without who computed and how often it was leased.
        var ledger: [String]
        /// Steps that the ledger proves.
        var provedSteps: Int

        var steps: Int { metrics.count { $0.contains("\"loss_tokens\"") } }
    }

    let bench: Workbench
    let recipe: LawRecipe
    let data: String

    static func with(_ recipe: LawRecipe, _ body: (LawBench) throws -> Void) throws {
        var model = TinyModel()
        model.weightType = recipe.weights
        try Workbench.with(model: model) { bench in
            let text =
                switch recipe.rows {
                case .completions(let count): Workbench.rows(count)
                case .preferences(let count): Workbench.preferences(count)
                }
            let data = try bench.write(text, to: "law.jsonl")
            try body(LawBench(bench: bench, recipe: recipe, data: data))
        }
    }

    var options: [String] { LawRecipe.run + recipe.options }

    /// What a cluster's run has in common with others: with local steps not the checkpoints, in which
    /// is what workers have sent so far.
    func clustered(_ outcome: Outcome) -> Outcome {
        guard options.contains("--local-steps") else { return outcome }
        var outcome = outcome
        outcome.files = outcome.files.filter { $0.key.hasPrefix("adapter/") }
        return outcome
    }

    /// One process with one thread: what all others must equal.
    func reference() throws -> Outcome {
        try train("reference", ["--threads", "1"])
        return try outcome(of: "reference")
    }

    /// The outcome of one way, in a folder of its own.
    func outcome(of way: LawWay, in output: String) throws -> Outcome {
        switch way {
        case .alone(let more):
            try train(output, more)
        case .cached:
            for name in [output + "-before", output] {
                let ending = try SkeinProcess.run(
                    bench.trainWords(name, options, data: data),
                    shell: "SKEIN_CACHE='\(bench.path("cache"))' exec \"$@\"")
                #expect(ending.status == 0, "\(ending.error)")
                #expect(
                    ending.error.contains("references: ") == (name != output), "\(ending.error)")
            }
        case .workers(let count):
            let cluster = try cluster(output, ["--min-workers", String(count)])
            for number in 1...count { try cluster.startWorker("w\(number)") }
            try cluster.finish()
        case .localWorkers:
            let cluster = try cluster(output, ["--local-workers", "2"])
            try cluster.startWorker("w1", threads: 3)
            try cluster.finish()
        case .keepingFeatures:
            let ending = try train(output, features + ["--threads", "2"])
            #expect(ending.error.contains("the lower 1 of 2 blocks are computed once"))
        case .readingFeatures:
            let before = try featureBytes()
            let ending = try train(output, features + LawWay.spare)
            #expect(ending.error.contains("are already"))
            #expect(try featureBytes() == before)
        }
        return try outcome(of: output)
    }

    /// A coordinator with the recipe; workers are yet to come.
    func cluster(_ output: String, _ more: [String] = []) throws -> ClusterHarness {
        try ClusterHarness(bench, output, options + more, data: data)
    }

    @discardableResult
    func train(_ output: String, _ more: [String]) throws -> SkeinProcess.Ending {
        try bench.train(output, options + more, data: data)
    }

    /// SHA-256 of the weights of a run's adapter.
    func weights(of output: String) throws -> String {
        try #require(try bench.digests(of: output + "/adapter")["adapter_model.safetensors"])
    }

    /// What a run has left, after its ledger was proved.
    func outcome(of output: String) throws -> Outcome {
        let proof = try SkeinProcess.run([
            "inspect", bench.path(output), "--verify-ledger", "--json",
        ])
        #expect(proof.status == 0, "\(proof.error)")
        let ledger = try Workbench.object(proof.output)["ledger"] as? [String: Any]
        return Outcome(
            files: try bench.result(of: output),
            metrics: try bench.metricsWithoutCluster(output),
            ledger: try bench.ledgerWithoutWorkers(output),
            provedSteps: try #require(ledger?["steps"] as? Int, "\(proof.output)"))
    }

    private var features: [String] {
        ["--reuse-features", "on", "--feature-dir", bench.path("features")]
    }

    /// The size of the one file of features.
    private func featureBytes() throws -> Int {
        let names = try DiskStore().names(in: bench.path("features"))
        #expect(names.count == 1)
        let name = try #require(names.first)
        return try MappedFile(path: bench.path("features") + "/" + name).count
    }
}

extension LawWay {
    var isCluster: Bool {
        switch self {
        case .workers, .localWorkers: true
        case .alone, .cached, .keepingFeatures, .readingFeatures: false
        }
    }
}

extension Workbench {
    /// The lines of ledger.jsonl without who computed, and how often it was leased.
    func ledgerWithoutWorkers(_ output: String) throws -> [String] {
        try text(path(output) + "/ledger.jsonl").split(separator: "\n").map {
            String($0).replacing(/"worker":"[^"]*","attempt":[0-9]+,/, with: "")
        }
    }

    /// The lines of metrics.jsonl without what depends on a clock, or on who computed.
    func metricsWithoutCluster(_ output: String) throws -> [String] {
        try metrics(of: output).map { line in
            var fields = try Self.object(line)
            for name in [
                "workers", "coordinator_cpu_seconds", "sent_bytes", "received_bytes",
                "payload_bytes",
            ] { fields[name] = nil }
            let data = try JSONSerialization.data(withJSONObject: fields, options: .sortedKeys)
            return String(decoding: data, as: UTF8.self)
        }
    }
}
