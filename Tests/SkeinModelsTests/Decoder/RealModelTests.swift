import Foundation
import SkeinFormats
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// The real model against PyTorch (Tests/Fixtures/reference/README.md names the versions).
@Suite(.enabled(if: TestPaths.model != nil, "Scripts/test fetches the model"), .serialized)
struct RealModelTests {
    struct Reference: Decodable {
        struct Prompt: Decodable {
            let ids: [Int32]
            let greedyIDs: [Int32]

            enum CodingKeys: String, CodingKey {
                case ids
                case greedyIDs = "greedy_32_ids"
            }
        }
        let prompts: [String: Prompt]
    }

    private func relativeError(_ a: [Float], _ b: [Float]) -> Double {
        CentralDifference.relativeError(a.map(Double.init), b.map(Double.init))
    }

    @Test("logits and greedy continuation of a prompt are PyTorch's")
    func logits() throws {
        let weights = try DecoderWeights(
            model: ModelDirectory.open(try #require(TestPaths.model)), residence: .resident,
            positions: 512, threads: 2)
        let decoder = Decoder(weights: weights, adapter: nil)
        let data = try Data(
            contentsOf: URL(fileURLWithPath: TestPaths.fixture("reference/logits.json")))
        let prompt = try #require(
            JSONDecoder().decode(Reference.self, from: data).prompts["raw"])
        let tensors = try SafetensorsFile(path: TestPaths.fixture("reference/logits.safetensors"))
            .tensors
        let session = DecoderSession(decoder: decoder, parameters: nil, capacity: 40)
        let (logits, hidden) = session.read(prompt.ids)
        let expected = try #require(tensors["raw.last_logits"]).floats()
        let error = relativeError(logits, expected)
        #expect(error <= 1e-4, "relative L2 error \(error)")
        let finals = try #require(tensors["raw.final_hidden"]).floats()
        #expect(relativeError(try #require(hidden.last), Array(finals.suffix(576))) <= 1e-4)

        var answer: [Int32] = []
        let fresh = DecoderSession(decoder: decoder, parameters: nil, capacity: 40)
        try Generator(session: fresh, sampler: Sampler(), stopTokens: []).run(
            prompt: prompt.ids, maximumTokens: prompt.greedyIDs.count,
            check: DecoderSession.uninterrupted
        ) {
            answer.append($0)
            return true
        }
        #expect(answer == prompt.greedyIDs)
    }
}
