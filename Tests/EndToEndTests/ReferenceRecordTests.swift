import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinLab
import SkeinRows
import SkeinTestSupport
import SkeinTraining
import Testing

/// What workers say of the base model: who said it is recorded, and what was said is kept.
@Suite("records of references", .ownThreads)
struct ReferenceRecordTests {
    private let options = LawRecipe.run + ["--loss", "dpo"]
    /// Leases that the liar answers.
    private let lies = 3

    /// A well-formed result of a lease of log-probabilities: each is this one.
    private func result(for lease: LeaseGrant, of offer: Offer, _ value: Double) throws
        -> WorkResult
    {
        let values = [Double](repeating: value, count: lease.rows.count)
        let payload = LogProbabilityPayload.bytes(of: values)
        let recipe = WorkRecipe(
            model: offer.modelDigest,
            try TrainingConfiguration(json: offer.configuration, path: "offer"))
        let rows = lease.rows.map { TokenizedRow($0) }
        return WorkResult(
            key: lease.key, attempt: lease.attempt, kind: .logProbabilities,
            tokens: UInt32(rows.reduce(0) { $0 + $1.ids.count }),
            lossTokens: UInt32(rows.reduce(0) { $0 + $1.lossTokenCount }), correct: 0,
            lossSum: -values.reduce(0, +), digest: SHA256.digest(of: payload).bytes,
            inputs: WorkInputs(recipe, lease, rows: rows).digest.bytes, payload: payload)
    }

    /// Answers that so many rows are computed, as the coordinator has announced.
    private func announced(_ process: SkeinProcess) throws -> Int {
        // A log is written beside the run: workers may have answered before its line is there.
        try process.waitForError("references: ")
        let line = try #require(
            process.errorText.split(separator: "\n").first { $0.contains("references: ") })
        return try #require(line.split(separator: " ").lazy.compactMap { Int($0) }.last)
    }

    private func digest(_ bench: Workbench, _ output: String) throws -> String? {
        try Workbench.object(bench.text(bench.path(output + "/run.json")))["references_sha256"]
            as? String
    }

    @Test(
        "lies about the base model are named by the ledger and by run.json; what was accepted is kept"
    )
    func lie() throws {
        try Workbench.with { bench in
            let data = try bench.write(Workbench.preferences(40), to: "pairs.jsonl")
            try bench.train("quiet", options, data: data)
            let cluster = try ClusterHarness(bench, "run", options, data: data)
            let liar = try HostilePeer(cluster.address, name: "liar")
            try liar.join()
            var rows = 0
            for _ in 0..<lies {
                let lease = try liar.lease()
                #expect(lease.work.kind == .logProbabilities)
                let result = try result(for: lease, of: liar.offer, -1)
                liar.say(.result(result))
                #expect(try liar.answer(to: lease.key).verdict == .accepted)
                rows += lease.rows.count
            }
            let all = try announced(cluster.coordinator)
            liar.hangUp()
            cluster.coordinator.send(SIGTERM)
            #expect(try cluster.coordinator.wait().status == 130)

            try cluster.restartCoordinator()
            try cluster.startWorker("honest")
            try cluster.finish()
            let left = try announced(cluster.coordinator)
            #expect(left == all - rows)
            #expect(try bench.result(of: "run") != bench.result(of: "quiet"))
            #expect(try digest(bench, "run") != digest(bench, "quiet"))
            let proof = try SkeinProcess.run(["inspect", bench.path("run"), "--verify-ledger"])
            #expect(proof.status == 0, "\(proof.error)")
            let lines = try bench.text(bench.path("run/ledger.jsonl")).split(separator: "\n")
            let named = lines.filter { $0.contains("\"worker\":\"liar\"") }
            #expect(named.count == lies)
            #expect(named.allSatisfy { $0.contains("\"reference_group\":") })

            // What an honest worker says when it is asked again is not kept, and both are named.
            let references = bench.path("run/references")
            try FileManager.default.removeItem(atPath: references)
            try cluster.restartCoordinator()
            try cluster.startWorker("again")
            Complaint(
                65,
                "worker again computes other log-probabilities under the reference model than worker liar",
                "resume without it"
            ).check(try cluster.coordinator.wait())

            // With another ledger run.json still names what was said.
            try bench.write(
                bench.text(bench.path("quiet/ledger.jsonl")), to: "run/ledger.jsonl")
            let refuted = try SkeinProcess.run(["inspect", bench.path("run"), "--verify-ledger"])
            Complaint(65, "in the ledger and", "do not trust").check(refuted)
            try cluster.restartCoordinator()
            try cluster.startWorker("more")
            Complaint(
                65, "log-probabilities under the reference model (SHA-256) was",
                "remove that folder"
            ).check(try cluster.coordinator.wait())
        }
    }

    @Test("one worker that contradicts the ledger is not believed when another one agrees with it")
    func contradicted() throws {
        try Workbench.with { bench in
            let data = try bench.write(Workbench.preferences(40), to: "pairs.jsonl")
            try bench.train("quiet", options, data: data)
            // The references that train made are in the cache, so the cluster computes them again.
            try makeStopped(bench, options, data)
            let cluster = try ClusterHarness(
                bench, "run", options + ["--resume", "--keep-checkpoints", "3"], data: data)
            let liar = try HostilePeer(cluster.address, name: "liar")
            try liar.join()
            let lease = try liar.lease()
            #expect(lease.work.kind == .logProbabilities)
            liar.say(.result(try result(for: lease, of: liar.offer, -1)))
            let answer = try liar.answer(to: lease.key)
            #expect(answer.verdict == .refused)
            #expect(answer.detail.contains("other log-probabilities, computed by local"))
            liar.hangUp()
            try cluster.startWorker("honest")
            try cluster.finish()
            #expect(try bench.result(of: "run") == bench.result(of: "quiet"))
            let proof = try SkeinProcess.run(["inspect", bench.path("run"), "--verify-ledger"])
            #expect(proof.status == 0, "\(proof.error)")
        }
    }

    @Test("a run that an older version began goes on, and its references are recorded from then on")
    func older() throws {
        try Workbench.with { bench in
            let data = try bench.write(Workbench.preferences(40), to: "pairs.jsonl")
            try bench.train("quiet", options, data: data)
            try makeOlder(bench, options, data)
            for _ in 0..<2 {
                try bench.train(
                    "run", options + ["--resume", "--keep-checkpoints", "3"], data: data)
                #expect(try bench.result(of: "run") == bench.result(of: "quiet"))
                #expect(try digest(bench, "run") == digest(bench, "quiet"))
                let proof = try SkeinProcess.run(["inspect", bench.path("run"), "--verify-ledger"])
                #expect(proof.status == 0, "\(proof.error)")
                let lines = try bench.ledgerWithoutWorkers("run")
                let expected = try bench.ledgerWithoutWorkers("quiet")
                func references(_ lines: [String]) -> [String] {
                    lines.filter { $0.contains("reference_group") }
                }
                #expect(references(lines) == references(expected))
            }
        }
    }

    /// A run that stopped after its third step, with the records that a version wrote which knew
    /// nothing of groups.
    private func makeOlder(_ bench: Workbench, _ options: [String], _ data: String) throws {
        try makeStopped(bench, options, data)
        for (name, marks) in [
            ("run.json", ["\"references_sha256\"", "\"known_answer\""]),
            ("ledger.jsonl", ["_group\":"]),
        ] {
            let text = try bench.text(bench.path("run/" + name))
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let kept = lines.filter { line in !marks.contains { line.contains($0) } }
            #expect(kept.count < lines.count, "\(name)")
            try bench.write(kept.joined(separator: "\n"), to: "run/" + name)
        }
    }

    /// A run of train that stopped after its third step.
    private func makeStopped(_ bench: Workbench, _ options: [String], _ data: String) throws {
        try bench.train("run", options + ["--keep-checkpoints", "99"], data: data)
        for step in try FileManager.default.contentsOfDirectory(
            atPath: bench.path("run/checkpoints"))
        where step > "step-000003" {
            try FileManager.default.removeItem(atPath: bench.path("run/checkpoints/" + step))
        }
    }

    @Test("a run that an older version began is refused if its steps read other references")
    func olderDiffers() throws {
        try Workbench.with { bench in
            let data = try bench.write(Workbench.preferences(40), to: "pairs.jsonl")
            try makeOlder(bench, options, data)
            let ledger = try bench.text(bench.path("run/ledger.jsonl"))
            let field = "\"inputs_sha256\":\""
            var lines = ledger.split(separator: "\n").map(String.init)
            let place = try #require(lines.firstIndex { $0.hasPrefix("{\"step\":2,") })
            let start = try #require(lines[place].range(of: field)?.upperBound)
            let digit = lines[place][start]
            lines[place].replaceSubrange(start...start, with: digit == "0" ? "1" : "0")
            try bench.write(lines.joined(separator: "\n") + "\n", to: "run/ledger.jsonl")
            let words = bench.trainWords("run", options + ["--resume"], data: data)
            Complaint(
                65, "micro-batch 0 of step 2 was computed with other log-probabilities",
                "start a new run"
            ).check(try SkeinProcess.run(words))
            #expect(try digest(bench, "run") == nil)
        }
    }

    @Test("a run whose ledger was lost records its references again")
    func lostLedger() throws {
        try Workbench.with { bench in
            let data = try bench.write(Workbench.preferences(40), to: "pairs.jsonl")
            try bench.train("run", options, data: data)
            func references() throws -> [String] {
                try bench.ledgerWithoutWorkers("run").filter { $0.contains("reference_group") }
            }
            let before = try references()
            #expect(!before.isEmpty)
            try FileManager.default.removeItem(atPath: bench.path("run/ledger.jsonl"))
            try bench.train("run", options + ["--resume"], data: data)
            #expect(try references() == before)
        }
    }

    @Test("train keeps what it has computed of the base model when it is stopped")
    func stopped() throws {
        try Workbench.with { bench in
            let data = try bench.write(Workbench.preferences(2000), to: "pairs.jsonl")
            let words = bench.trainWords(
                "run", options + ["--no-token-cache", "--iterations", "2"], data: data)
            let first = try SkeinProcess(words)
            try first.waitForError("references: ")
            first.send(SIGTERM)
            let ending = try first.wait()
            // On a busy machine the signal may come after the run or in its steps, or before the first
            // group.
            if ending.status == 0 || ending.error.contains("step 1/") { return }
            #expect(ending.error.contains("interrupted before the first step"))
            #expect(ending.status == 130, "\(ending.error)")
            let isKept = FileManager.default.fileExists(atPath: bench.path("run/references"))
            let second = try SkeinProcess(words + ["--resume"])
            #expect(try second.wait().status == 0)
            guard second.errorText.contains("references: ") else { return }
            let (before, after) = (try announced(first), try announced(second))
            #expect(isKept ? after < before : after == before)
        }
    }

    @Test("test rows have their lines, in one process and in a cluster, and again after a resume")
    func test() throws {
        try Workbench.with { bench in
            let test = try bench.write(Workbench.rows(7), to: "test.jsonl")
            let options = LawRecipe.run + ["--test-data", test]
            try bench.train("quiet", options)
            let cluster = try ClusterHarness(bench, "run", options)
            try cluster.startWorker("w1")
            try cluster.finish()
            let expected = try bench.ledgerWithoutWorkers("quiet")
            #expect(expected.contains { $0.hasPrefix("{\"test_group\":0,\"step\":") })
            #expect(try bench.ledgerWithoutWorkers("run") == expected)
            try bench.train("quiet", options + ["--resume"])
            #expect(try bench.ledgerWithoutWorkers("quiet") == expected)
            let proof = try SkeinProcess.run([
                "inspect", bench.path("run"), "--verify-ledger", "--json",
            ])
            let ledger = try Workbench.object(proof.output)["ledger"] as? [String: Any]
            #expect((ledger?["groups"] as? Int ?? 0) > 2)
        }
    }
}
