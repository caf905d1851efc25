import Foundation
import SkeinBasics
import SkeinLab
import SkeinTestSupport
import Testing

/// A run directory that was damaged between two starts.
@Suite("damaged runs", .ownThreads)
struct DamagedRunTests {
    private let run = ["--epochs", "2", "--checkpoint-every", "3"]

    /// Changes the bytes of a file of a run.
    private func edit(
        _ bench: Workbench, _ name: String, _ body: (inout [UInt8]) throws -> Void
    ) throws {
        var bytes = try bench.bytes(bench.path(name))
        try body(&bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: bench.path(name)))
    }

    @Test(
        "a damaged older line is reported at once, and that nothing proves the run now",
        arguments: ["ledger.jsonl", "metrics.jsonl"])
    func olderLine(file: String) throws {
        try Workbench.with { bench in
            try bench.train("run", run)
            let before = try bench.result(of: "run")
            try edit(bench, "run/" + file) { bytes in
                // In the second line, a letter of a field's name.
                let second = try #require(bytes.firstIndex(of: 0x0A)) + 1
                bytes[second + 14] ^= 1
            }
            let again = try bench.train("run", run + ["--resume"])
            #expect(again.error.contains("run/\(file):2"), "\(again.error)")
            #expect(again.error.contains("nothing proves it any more"))
            #expect(try bench.result(of: "run") == before)
            let proof = try SkeinProcess.run(["inspect", bench.path("run"), "--verify-ledger"])
            #expect(proof.status == 65)
        }
    }

    @Test("a missing line is reported at once, too")
    func missingLine() throws {
        try Workbench.with { bench in
            // The first line is then a gradient's.
            let run = self.run + ["--micro-batch-tokens", "1", "--validate-at-start", "off"]
            try bench.train("run", run)
            try edit(bench, "run/ledger.jsonl") { bytes in
                bytes.removeFirst(try #require(bytes.firstIndex(of: 0x0A)) + 1)
            }
            let again = try bench.train("run", run + ["--resume"])
            #expect(again.error.contains("micro-batch 0 of step 1 has no line"), "\(again.error)")
        }
    }

    @Test("torn text after the last durable line is cut off silently")
    func torn() throws {
        try Workbench.with { bench in
            try bench.train("run", run)
            let before = try bench.contents(of: "run")
            for tail in ["{\"st", "\0\0\0\n", "{\"step\":17,\0\0\n{\"step\":17}\n", "\n"] {
                for file in ["ledger.jsonl", "metrics.jsonl"] {
                    try edit(bench, "run/" + file) { $0 += Array(tail.utf8) }
                }
                let again = try bench.train("run", run + ["--resume"])
                #expect(!again.error.contains("jsonl"), "\(again.error)")
                #expect(try bench.contents(of: "run") == before)
            }
        }
    }

    @Test("an adapter that was removed is restored from the checkpoint of its step")
    func adapterGone() throws {
        try Workbench.with { bench in
            // The best validation is the last one, and the one before it when learning goes wrong.
            try bench.train("run", run)
            let before = try bench.contents(of: "run")
            for name in ["adapter", "adapter/adapter_model.safetensors"] {
                try FileManager.default.removeItem(atPath: bench.path("run/" + name))
                let again = try bench.train("run", run + ["--resume"])
                #expect(again.error.contains("restored from the checkpoint of step"))
                #expect(try bench.contents(of: "run") == before)
            }
            let metrics = try bench.text(bench.path("run/metrics.jsonl"))
            let best = metrics.contains("\"step\":16,\"epoch\":2,\"validation_loss\"")
            #expect(best)
            try FileManager.default.removeItem(atPath: bench.path("run/adapter"))
            for step in ["step-000016", "step-000008"] {
                let manifest = bench.path("run/checkpoints/\(step)/manifest.json")
                guard FileManager.default.fileExists(atPath: manifest) else { continue }
                try FileManager.default.removeItem(atPath: manifest)
            }
            // Step 16 is computed again from step 15, whose best is that of step 8.
            let lost = try SkeinProcess.run(bench.trainWords("run", run + ["--resume"]))
            Complaint(65, "the adapter of step 8", "run/adapter", "computes it again").check(lost)
        }
    }
}
