import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinModels

@Suite(.enabled(if: TestPaths.model != nil, "needs SKEIN_TEST_MODEL, see Scripts/test"))
struct RealFileTests {
    struct Golden: Decodable {
        let file: String
        let allTensors: String
        let tensors: [String: String]
    }

    @Test("SmolLM2-135M has its configuration, tokenizer and template")
    func configuration() throws {
        let model = try ModelDirectory.open(try #require(TestPaths.model))
        #expect(
            model.configuration
                == ModelConfiguration(
                    architecture: "llama", vocabularySize: 49_152, width: 576,
                    feedForwardWidth: 1536, layerCount: 30, headCount: 9, keyValueHeadCount: 3,
                    headDimension: 64, contextLength: 8192, normEpsilon: 1e-5, ropeTheta: 100_000,
                    ropeFrequencyDivisors: nil, tiedEmbeddings: true, family: Llama()))
        #expect(model.chatTemplate?.contains("<|im_start|>") == true)
        guard case .gguf(let metadata) = model.tokenizerSource,
            case .strings(let merges) = metadata["tokenizer.ggml.merges"]
        else {
            Issue.record("the file has no tokenizer")
            return
        }
        #expect(merges.count == 48_900)
    }

    @Test("every weight of SmolLM2-135M is gguf-py's, bit for bit, q and k un-permuted")
    func weights() throws {
        let url = URL(fileURLWithPath: TestPaths.fixture("formats/model.json"))
        let golden = try JSONDecoder().decode(Golden.self, from: Data(contentsOf: url))
        let model = try ModelDirectory.open(try #require(TestPaths.model))
        #expect(model.contentDigest().description == golden.file)
        let gguf = try GGUFFile(path: try #require(TestPaths.model))
        let layout = try #require(Llama().gguf)
        var all = ""
        for name in gguf.tensors.keys.sorted() {
            let match = try #require(layout.tensor(name, in: model.configuration.design))
            let view = try model.tensor(match.name)
            let digest = view.floats().withUnsafeBytes { SHA256.digest(of: $0) }.description
            if let expected = golden.tensors[name] { #expect(digest == expected, "\(name)") }
            all += digest
        }
        #expect(SHA256.digest(of: all).description == golden.allTensors)
    }
}
