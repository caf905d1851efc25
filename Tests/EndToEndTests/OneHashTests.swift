import SkeinBench
import SkeinTestSupport
import Testing

/// A run is a pure function of model, data, configuration and seed: equal bytes, whoever computes.
@Suite("one hash")
struct OneHashTests {
    /// All other flags are the defaults: dropout, a validation split, shuffling and clipping are
    /// on.
    private let run = ["--epochs", "2", "--checkpoint-every", "3"]

    @Test("threads, where the weights are held and recomputation do not change a byte")
    func waysToCompute() throws {
        let ways: [(name: String, flags: [String])] = [
            ("1 thread", ["--threads", "1"]),
            ("2 threads", ["--threads", "2"]),
            ("5 threads", ["--threads", "5"]),
            ("resident", ["--weights", "resident"]),
            ("streamed", ["--weights", "streamed", "--threads", "2"]),
            ("recomputed", ["--gradient-checkpointing", "--threads", "2"]),
            (
                "sparing",
                ["--weights", "streamed", "--gradient-checkpointing", "--threads", "3"]
            ),
        ]
        // Quantized, so that streaming has weights to dequantize.
        var model = TinyModel()
        model.weightType = .q4x0
        try Workbench.with(model: model) { bench in
            let small = run + ["--micro-batch-tokens", "48"]
            try bench.train("first", small + ways[0].flags)
            let result = try bench.result(of: "first")
            #expect(result.count == 3 + 3 * 5, "\(result.keys.sorted())")
            let ledger = try bench.bytes(bench.path("first/ledger.jsonl"))
            let metrics = try bench.metrics(of: "first")
            #expect(metrics.count == 16 + 2)
            for way in ways.dropFirst() {
                try bench.train(way.name, small + way.flags)
                #expect(try bench.result(of: way.name) == result, "\(way.name)")
                #expect(
                    try bench.bytes(bench.path("\(way.name)/ledger.jsonl")) == ledger,
                    "\(way.name)")
                #expect(try bench.metrics(of: way.name) == metrics, "\(way.name)")
            }
        }
    }

    @Test("each gradient codec has one hash of its own")
    func codecs() throws {
        try Workbench.with { bench in
            var hashes: Set<String> = []
            for codec in ["fp32", "bf16", "int8"] {
                let flags = run + ["--gradient-codec", codec]
                try bench.train("\(codec)-1", flags + ["--threads", "1"])
                try bench.train("\(codec)-2", flags + ["--threads", "2"])
                let result = try bench.result(of: "\(codec)-1")
                #expect(try bench.result(of: "\(codec)-2") == result, "\(codec)")
                #expect(
                    try bench.metrics(of: "\(codec)-2") == bench.metrics(of: "\(codec)-1"),
                    "\(codec)")
                hashes.insert(try #require(result["adapter/adapter_model.safetensors"]))
            }
            #expect(hashes.count == 3)
        }
    }

    @Test(
        "each loss of pairs of answers has one hash of its own",
        arguments: ["dpo", "orpo", "simpo"])
    func pairs(loss: String) throws {
        try Workbench.with { bench in
            let data = try bench.write(Workbench.preferences(40), to: "pairs.jsonl")
            let flags = run + ["--loss", loss, "--micro-batch-tokens", "64"]
            try bench.train("one", flags + ["--threads", "1"], data: data)
            try bench.train(
                "two",
                flags + [
                    "--threads", "2", "--no-token-cache", "--weights", "streamed",
                    "--gradient-checkpointing",
                ], data: data)
            let result = try bench.result(of: "one")
            #expect(try bench.result(of: "two") == result)
            #expect(try bench.metrics(of: "two") == bench.metrics(of: "one"))
            // The references of the first run, which were kept.
            try bench.train("again", flags, data: data)
            #expect(try bench.result(of: "again") == result)
            // With other recipes, in one process and the other.
            let others = flags + ["--dora", "on", "--compute", "bf16", "--gradient-codec", "int8"]
            try bench.train("others-1", others + ["--threads", "1"], data: data)
            try bench.train("others-2", others + ["--threads", "2"], data: data)
            #expect(try bench.result(of: "others-2") == bench.result(of: "others-1"))
            try bench.train("other", flags + ["--beta", "0.7"], data: data)
            #expect(try bench.result(of: "other") != result)
        }
    }

    @Test("another seed, another rate and other rows give another adapter")
    func whatMatters() throws {
        try Workbench.with { bench in
            try bench.train("base", run)
            try bench.train("seed", run + ["--seed", "1"])
            try bench.train("rate", run + ["--learning-rate", "2e-4"])
            let other = try bench.write(Workbench.rows(41), to: "other.jsonl")
            try bench.train("rows", run, data: other)
            let hashes = try ["base", "seed", "rate", "rows"].map {
                try bench.result(of: $0)["adapter/adapter_model.safetensors"]
            }
            #expect(Set(hashes).count == 4)
        }
    }
}
