import Skein
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinCommands

/// `skein evaluate` in each precision, against the library.
@Suite(.ownThreads) struct EvaluateCommandTests {
    /// A tiny model with an adapter, and rows.
    private struct Place {
        let directory: String

        /// Runs `skein evaluate` on the adapter, and returns what it printed.
        func evaluate(_ more: [String]) -> String {
            run(["evaluate", "--adapter", directory + "/run/adapter"] + more)
        }

        @discardableResult
        func run(_ words: [String]) -> String {
            let process = CapturedProcess()
            let status = CommandLineTool.skein.run(
                words + [
                    "--model", directory + "/tiny.gguf", "--data", directory + "/rows.jsonl",
                    "--threads", "1",
                ], process.io())
            #expect(status == 0, "\(process.error)")
            return process.output
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<20).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            let place = Place(directory: directory)
            place.run([
                "train", "--output", directory + "/run", "--iterations", "3", "--rank", "2",
                "--learning-rate", "1e-2", "--validation-split", "0", "--no-token-cache",
            ])
            try await body(place)
        }
    }

    @Test("evaluate --compute has the library's figures in that precision, and names it")
    func figures() async throws {
        try await withPlace { place in
            let model = try Model(at: place.directory + "/tiny.gguf")
            let adapter = try Adapter(at: place.directory + "/run/adapter")
            var losses: [Double] = []
            for compute in Recipe.Compute.allCases {
                let text = place.evaluate(["--json", "--compute", compute.rawValue])
                // Foundation's reader misses the last bits of some numbers.
                let found = try JSONReader.read(Array(text.utf8), .foundation)
                #expect(found["compute"]?.string == compute.rawValue)
                var recipe = Recipe()
                recipe.compute = compute
                for (name, adapter) in [("base", nil), ("adapter", adapter)] {
                    let expected = try await Evaluation.measure(
                        model, adapter: adapter, data: place.directory + "/rows.jsonl",
                        recipe: recipe, machine: Machine(threads: 1))
                    let figures = try #require(found[name])
                    let loss = try #require(figures["loss"]?.double)
                    #expect(loss == expected.loss)
                    #expect(figures["token_accuracy"]?.double == expected.tokenAccuracy)
                    losses.append(loss)
                }
            }
            #expect(Set(losses).count == losses.count)
            #expect(
                place.evaluate(["--json"]) == place.evaluate(["--json", "--compute", "fp32"]))
        }
    }

    @Test("a table and gradients of another precision than fp32 are not those of fp32")
    func others() async throws {
        try await withPlace { place in
            var gradients: [[Float]] = []
            for compute in ["fp32", "int8"] {
                let path = place.directory + "/" + compute + ".safetensors"
                let table = place.evaluate(["--compute", compute, "--gradients", path])
                #expect(table.hasPrefix(compute == "fp32" ? "   " : "int8   "), "\(table)")
                let file = try SafetensorsFile(path: path)
                gradients.append(
                    file.tensors.sorted { $0.key < $1.key }.flatMap { $0.value.floats() })
            }
            #expect(gradients[0].count == gradients[1].count && gradients[0] != gradients[1])
            let error = CentralDifference.relativeError(
                gradients[1].map(Double.init), gradients[0].map(Double.init))
            #expect(error < 0.2, "\(error)")
        }
    }
}
