import Foundation
import SkeinBasics
import SkeinJSON
import SkeinModels
import Testing

@testable import SkeinTraining

@Suite struct TrainingConfigurationTests {
    @Test("the defaults do not change")
    func defaults() {
        let text = TrainingConfiguration().fields.compactMap { name, value in
            value.optionText.map { "\(name) \($0)" }
        }
        #expect(
            text == [
                "rank 16", "alpha 32", "dropout 0",
                "target-modules q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj",
                "layers all", "learning-rate 0.0001", "weight-decay 0.01", "beta1 0.9",
                "beta2 0.999", "epsilon 1e-08", "schedule linear", "warmup-steps 0",
                "max-grad-norm 1",
                "epochs 3", "batch-size 4", "micro-batch-tokens 512", "max-length 512", "seed 0",
                "shuffle on", "validation-split 0.2", "prompt-format auto", "train-on all",
                "gradient-codec fp32", "compute fp32", "skip-bad-lines off", "any-base off",
                "weights auto", "gradient-checkpointing off", "report-every 1",
                "checkpoint-every 50",
                "keep-checkpoints 3", "log-format text", "min-workers 1", "patience 60s",
            ])
        #expect(throws: Never.self) { try TrainingConfiguration().validate() }
        let names = TrainingConfiguration.options.map(\.description.name)
        #expect(Set(names).count == names.count)
    }

    static let bad: [(String, String)] = [
        ("rank", "0"), ("rank", "8.0"), ("rank", ""), ("alpha", "0"), ("alpha", "nan"),
        ("dropout", "1"), ("dropout", "0.999995"),
        ("dropout", "-0.1"), ("target-modules", "q_proj,x"),
        ("target-modules", ""), ("layers", "0"), ("layers", "5-4"), ("layers", "-3"),
        ("layers", "1-2-3"), ("learning-rate", "0"), ("learning-rate", "inf"), ("beta1", "1"),
        ("epsilon", "1e-31"), ("schedule", "Linear"), ("warmup-steps", "-1"),
        ("max-grad-norm", "-1"), ("epochs", "0"), ("iterations", "0"), ("batch-size", "x"),
        ("max-length", "1"), ("seed", "-1"), ("shuffle", "yes"), ("validation-split", "1"),
        ("prompt-format", "chatml"), ("train-on", "first"), ("init-adapter", ""),
        ("threads", "0"), ("gradient-codec", "fp16"), ("patience", "60x"), ("patience", "s"),
        ("patience", "99999999999999999999"),
    ]

    @Test("the error of a value names flag, value and what is allowed", arguments: bad)
    func badValue(name: String, value: String) throws {
        var configuration = TrainingConfiguration()
        let error = try #require(throws: TrainingError.self) {
            try configuration.set(name, to: value)
        }
        guard case .badOption(name, value, let allowed) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(!allowed.isEmpty)
        #expect(configuration == TrainingConfiguration())
        #expect(error.explanation.status == .usage)
    }

    @Test("values set in code are checked by validate")
    func validate() {
        var configuration = TrainingConfiguration()
        configuration.validationSplit = 1.5
        #expect(
            throws: TrainingError.badOption(
                flag: "validation-split", value: "1.5", allowed: "a number from 0 to below 1")
        ) { try configuration.validate() }
    }

    private func changed() throws -> TrainingConfiguration {
        var configuration = TrainingConfiguration()
        for (name, text) in [
            ("rank", "4"), ("target-modules", "down_proj,q_proj,q_proj"), ("layers", "8-23"),
            ("learning-rate", "3e-4"), ("iterations", "70"), ("shuffle", "off"),
            ("patience", "1500ms"), ("threads", "2"), ("early-stop-patience", "3"),
            ("gradient-codec", "int8"), ("valid-data", "v.jsonl"), ("seed", "9007199254740993"),
            ("skip-bad-lines", "on"), ("gradient-checkpointing", "true"),
        ] { try configuration.set(name, to: text) }
        return configuration
    }

    @Test("JSON reads back as it was written, with either spelling of a name")
    func json() throws {
        let original = try changed()
        let read = try TrainingConfiguration(json: original.json, path: "x")
        #expect(read == original)
        #expect(read.targetModules == [.query, .down])
        var camel = TrainingConfiguration()
        try camel.apply(
            Self.object(#"{"learningRate": 0.5, "targetModules": "up_proj", "shuffle": "off"}"#))
        #expect(camel.learningRate == 0.5)
        #expect(camel.targetModules == [.up])
        #expect(!camel.shuffle)
    }

    @Test("JSON with an unknown name or a wrong type is an error")
    func badJSON() {
        var configuration = TrainingConfiguration()
        #expect(throws: TrainingError.unknownOption(name: "ranks")) {
            try configuration.apply(Self.object(#"{"ranks": 8}"#))
        }
        #expect(
            throws: TrainingError.badOption(
                flag: "rank", value: "an object", allowed: "a whole number from 1 to 1024")
        ) { try configuration.apply(Self.object(#"{"rank": {"a": 1}}"#)) }
        #expect(
            throws: TrainingError.badOption(
                flag: "rank", value: "on", allowed: "a whole number from 1 to 1024")
        ) { try configuration.apply(Self.object(#"{"rank":true}"#)) }
    }

    private static func object(_ text: String) throws -> [JSONField] {
        try RecordFile.object(from: Array(text.utf8), path: "x")
    }

    @Test("every double reads back as itself, for a worker and for a run that is resumed")
    func doubles() throws {
        // Foundation's JSONSerialization read the first two as 0.11111111111111109 and
        // 3.2812666092912686.
        var values = [1 / 9.0, 3.2812666092912677, 0.0032812666092912677, 1e-300, 0.1]
        let random = AddressedRandom(seed: 47, purpose: .benchmark)
        for index in 0..<2000 {
            let words = random.block(UInt32(index))
            values.append(
                AddressedRandom.unitDouble(words.x, words.y) * pow(10, -Double(words.z % 9)))
        }
        for value in values {
            var configuration = TrainingConfiguration()
            configuration.weightDecay = value
            let read = try TrainingConfiguration(json: configuration.json, path: "x")
            #expect(read.weightDecay == value)
            #expect(read.digest == configuration.digest)
        }
    }

    @Test(
        "a record that is no object of plain JSON is an error",
        arguments: [
            ("", "not JSON (at byte 0)"), ("{\"rank\":8,}", "not JSON (at byte 10)"),
            ("{\"rank\":8,\"rank\":16}", "the name at byte 10 is there twice"),
            ("7", "a number, not an object"),
            (String(repeating: "[", count: 40), "more than 16 objects or lists in each other"),
        ])
    func noRecord(text: String, detail: String) {
        #expect(throws: TrainingError.damagedRecord(path: "x", line: nil, detail: detail)) {
            try TrainingConfiguration(json: Array(text.utf8), path: "x")
        }
    }

    @Test("a flaw in run.json has its line, and an editor's mark is read over")
    func lines() throws {
        let text = "{\n  \"rank\": 8,\n  \"rank\": 16\n}"
        #expect(
            throws: TrainingError.damagedRecord(
                path: "x", line: 3, detail: "the name at byte 17 is there twice")
        ) { try TrainingConfiguration(json: Array(text.utf8), path: "x") }
        let original = try changed()
        let marked = try TrainingConfiguration(
            json: [0xEF, 0xBB, 0xBF] + original.json, path: "x")
        #expect(marked == original)
    }

    @Test("what an offer or a record says is shown short and without what a terminal obeys")
    func foreign() {
        let long = String(repeating: "9", count: 100_000)
        #expect(
            throws: TrainingError.badOption(
                flag: "rank", value: String(repeating: "9", count: 200) + "...",
                allowed: "a whole number from 1 to 1024")
        ) {
            var configuration = TrainingConfiguration.fixed
            try configuration.set("rank", to: long)
        }
        #expect(throws: TrainingError.unknownOption(name: "?[31m")) {
            var configuration = TrainingConfiguration.fixed
            try configuration.set("\u{1B}[31m", to: "8")
        }
    }

    @Test("the digest covers the options that shape the result and no others")
    func digest() throws {
        let plain = TrainingConfiguration.fixed
        let neutral = [
            "valid-data", "test-data", "skip-bad-lines", "init-adapter", "any-base", "report-every",
            "checkpoint-every", "keep-checkpoints", "threads", "weights",
            "gradient-checkpointing", "min-workers", "patience", "log-format",
            "sample-prompt", "save-state-every", "reuse-features", "feature-dir", "feature-disk",
            "validate-at-start", "require-improvement",
        ]
        let values = [
            "rank": "3", "alpha": "3", "dropout": "0", "target-modules": "q_proj", "layers": "3",
            "beta1": "0.5", "beta2": "0.5", "schedule": "cosine", "shuffle": "off",
            "validation-split": "0", "split-by": "prompt", "text-chunks": "on",
            "prompt-format": "raw", "train-on": "last",
            "skip-bad-lines": "on", "any-base": "on",
            "weights": "streamed", "gradient-checkpointing": "on",
            "gradient-codec": "bf16", "compute": "bf16", "patience": "3s", "log-format": "json",
            "epsilon": "0.1", "template-argument": "enable_thinking=false",
            "template-date": "2025-01-02", "field": "prompt=question", "loss": "dpo",
            "delta-codec": "topk", "topk-density": "0.5", "outer-momentum": "0.5",
            "rank-pattern": "q_proj=3", "alpha-pattern": "q_proj=3", "warmup-ratio": "0.5",
            "label-smoothing": "0.5", "rslora": "on", "dora": "on",
            "reuse-features": "on", "feature-type": "bf16",
            "best-metric": "accuracy", "validate-at-start": "on", "require-improvement": "on",
            "reference": "init",
        ]
        for name in TrainingConfiguration.options.map(\.description.name) {
            var other = plain
            try other.set(name, to: values[name] ?? "7")
            #expect(other != plain, "\(name)")
            let counts = !neutral.contains(name)
            #expect((other.digest != plain.digest) == counts, "\(name)")
            #expect(other.differences(from: plain).map(\.field) == (counts ? [name] : []))
        }
    }

    @Test("a run without slots keeps the digest that it had before slots existed")
    func digestWithoutSlots() throws {
        // Computed by an older version.
        #expect(
            TrainingConfiguration.fixed.digest.description
                == "1ff38e56ffcc5a60d9265c320645a798a6017e445bfa5b1eab450552d7f5b7ae")
        // Nor is the option named to versions that do not know it.
        #expect(!TrainingConfiguration().fields.contains { $0.0 == "slots" })
        var cut = TrainingConfiguration()
        try cut.set("slots", to: "2")
        #expect(cut.digest != TrainingConfiguration().digest)
        let reread = try TrainingConfiguration(json: cut.json, path: "x")
        #expect(reread.slots == 2 && reread.digest == cut.digest)
    }

    @Test("differences give both values")
    func differences() throws {
        let found = try changed().differences(from: .fixed)
        #expect(found.contains(Difference(field: "rank", recorded: "8", requested: "4")))
        #expect(
            found.contains(
                Difference(field: "iterations", recorded: "not given", requested: "70")))
        #expect(!found.contains { $0.field == "threads" })
    }

    @Test("layers are all, the last N, or a range, and must exist")
    func layers() throws {
        #expect(try LayerSelection("all")?.range(layerCount: 30) == 0..<30)
        #expect(try LayerSelection("16")?.range(layerCount: 30) == 14..<30)
        #expect(try LayerSelection("8-23")?.range(layerCount: 30) == 8..<24)
        for text in ["31", "8-30"] {
            #expect(throws: TrainingError.layersOutOfRange(layers: text, layerCount: 30)) {
                try LayerSelection(text)?.range(layerCount: 30)
            }
        }
        let lora = try TrainingConfiguration().lora(layerCount: 30)
        #expect(lora.scale == 2)
        #expect(lora.layers == 0..<30)
    }
}
