import Foundation
import SkeinBasics
import SkeinFormats
import SkeinLab
import SkeinTestSupport
import Testing

/// The real model through the binary against PyTorch and PEFT (Tests/Fixtures/reference/README.md).
@Suite(
    "reference", .enabled(if: TestPaths.model != nil, "Scripts/test fetches the model"), .ownThreads
)
struct ReferenceTests {
    private struct Recipe: Decodable {
        struct Run: Decodable {
            var losses: [Double]

            enum CodingKeys: String, CodingKey { case losses = "losses_first_10" }
        }

        var lossTokens: [Int]
        var run: Run

        enum CodingKeys: String, CodingKey {
            case lossTokens = "supervised_tokens"
            case run = "run_lr1e-4"
        }
    }

    private let rows = TestPaths.fixture("reference/lora_rows.jsonl")
    private let adapter = TestPaths.fixture("reference/adapter_init")

    private func decode<Value: Decodable>(_ name: String) throws -> Value {
        let url = URL(fileURLWithPath: TestPaths.fixture("reference/\(name)"))
        return try JSONDecoder().decode(Value.self, from: Data(contentsOf: url))
    }

    @Test("the losses of 10 steps are PyTorch's within 5e-5")
    func losses() throws {
        let recipe: Recipe = try decode("lora.json")
        try TestPaths.withTemporaryDirectory { directory in
            let bench = Workbench(directory: directory)
            let model: String = try #require(TestPaths.model)
            let ending = try SkeinProcess.run(
                bench.trainWords(
                    "run",
                    [
                        "--shuffle", "off", "--validation-split", "0", "--dropout", "0",
                        "--max-grad-norm", "0", "--init-adapter", adapter, "--batch-size", "4",
                        "--iterations", "10",
                    ], model: model, data: rows))
            #expect(ending.status == 0, "\(ending.error)")
            let lines = try bench.text(bench.path("run/metrics.jsonl")).split(separator: "\n")
                .map { try Workbench.object(String($0)) }
            #expect(lines.count == 10)
            var worst = 0.0
            for (step, line) in lines.enumerated() {
                #expect(line["loss_tokens"] as? Int == recipe.lossTokens[step])
                let loss = try #require(line["loss"] as? Double)
                let error = abs(loss / recipe.run.losses[step] - 1)
                worst = max(worst, error)
                #expect(error <= 5e-5, "step \(step + 1): \(loss)")
            }
            print("reference: worst relative error of a loss \(worst)")
            try verifyLedger(bench, of: "run", steps: 10)
        }
    }

    @Test("the gradients of the first batch are PyTorch's within 1e-3, and 1e-4 over all")
    func gradients() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let bench = Workbench(directory: directory)
            let batch = try bench.text(rows).split(separator: "\n").prefix(4)
            let data = try bench.write(batch.joined(separator: "\n") + "\n", to: "batch.jsonl")
            let file = bench.path("gradients.safetensors")
            let ending = try SkeinProcess.run(
                [
                    "evaluate", "--model", try #require(TestPaths.model), "--adapter", adapter,
                    "--data", data, "--gradients", file,
                ])
            #expect(ending.status == 0, "\(ending.error)")
            let found = try SafetensorsFile(path: file).tensors
            let names = try AdapterFiles.map(adapter).tensors.keys
            #expect(found.keys.sorted() == names.sorted())

            // B is zero at the start, so no gradient reaches A.
            let a = found.filter { $0.key.hasSuffix(".lora_A.weight") }
            #expect(a.count == 120)
            #expect(a.values.allSatisfy { $0.floats().allSatisfy { $0 == 0 } })

            let expected = try SafetensorsFile(
                path: TestPaths.fixture("reference/grads_step0_lora_B.safetensors")
            ).tensors
            #expect(expected.count == 120)
            var all = (difference: 0.0, norm: 0.0)
            var worst = 0.0
            for (name, view) in expected {
                let own = try #require(found["base_model.model." + name])
                #expect(own.shape == view.shape)
                var sums = (difference: 0.0, norm: 0.0)
                for (x, y) in zip(own.floats(), view.floats()) {
                    sums.difference += Double(x - y) * Double(x - y)
                    sums.norm += Double(y) * Double(y)
                }
                let error = (sums.difference / sums.norm).squareRoot()
                worst = max(worst, error)
                #expect(error <= 1e-3, "\(name)")
                all.difference += sums.difference
                all.norm += sums.norm
            }
            let error = (all.difference / all.norm).squareRoot()
            #expect(error <= 1e-4)
            print("reference: relative error of the gradient \(error), worst matrix \(worst)")
        }
    }

    @Test("the greedy continuation is PyTorch's up to the stop token")
    func greedy() throws {
        struct Logits: Decodable {
            struct Prompt: Decodable {
                var ids: [Int]
                var greedy: [Int]

                enum CodingKeys: String, CodingKey {
                    case ids
                    case greedy = "greedy_32_ids"
                }
            }
            var prompts: [String: Prompt]
        }
        let logits: Logits = try decode("logits.json")
        let raw = try #require(logits.prompts["raw"])
        let ending = try SkeinProcess.run(
            [
                "generate", "--model", try #require(TestPaths.model), "--raw", "--json",
                "--prompt", "The capital of France is", "--max-tokens", "32",
            ])
        #expect(ending.status == 0, "\(ending.error)")
        let answer = try Workbench.object(ending.output)
        #expect(answer["prompt_tokens"] as? Int == raw.ids.count)
        let tokens = try #require(answer["tokens"] as? [Int])
        // The reference stops at <|im_end|>, which generate does not return.
        #expect(raw.greedy.last == 2)
        #expect(tokens == raw.greedy.dropLast())
    }
}
