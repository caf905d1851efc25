import Foundation
import SkeinModels
import SkeinRowsTestSupport
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows
@testable import SkeinTraining

/// Rows of the reference recipe (Tests/Fixtures/reference/README.md): the ids and labels that
/// PyTorch was trained on, with the tokenizer and the template of the real model.
@Suite(.enabled(if: TestPaths.model != nil, "needs the model that Scripts/fetch-model fetches"))
struct RecipeTests {
    private struct Reference: Decodable {
        struct Example: Decodable {
            var prompt: String
            var completion: String
            var ids: [Int32]
            /// -100 where a token carries no loss.
            var labels: [Int32]
        }

        var examples: [Example]

        enum CodingKeys: String, CodingKey { case examples = "recipe_examples" }
    }

    @Test("a pair gives the ids and labels of the reference, and so does its conversation")
    func examples() throws {
        let model = try ModelDirectory.open(#require(TestPaths.model))
        let encoder = try RowEncoder(
            encoder: TextEncoder(model: model), format: .auto, trainedTurns: .all,
            maximumLength: 512)
        #expect(encoder.format == .chat)
        let bytes = try Data(
            contentsOf: URL(fileURLWithPath: TestPaths.fixture("reference/tokens.json")))
        let examples = try JSONDecoder().decode(Reference.self, from: bytes).examples
        #expect(!examples.isEmpty)
        for example in examples {
            let pair = PairRow.pair(prompt: example.prompt, completion: example.completion)
            let turns = PairRow.conversation([
                ChatTurn(role: "user", content: example.prompt),
                ChatTurn(role: "assistant", content: example.completion),
            ])
            for row in [pair, turns] {
                let draft = try encoder.draft(row)
                let row = TokenizedRow(
                    number: 0, ids: draft.ids, targets: draft.targets, maximumLength: 512)
                #expect(row.ids == example.ids, "\(example.prompt)")
                let labels = row.ids.indices.map { row.isTarget($0) ? row.ids[$0] : -100 }
                #expect(labels == example.labels, "\(example.prompt)")
            }
        }
    }

    @Test(
        "all rows of the demo's data keep the tokens that pairs had before they were conversations",
        .enabled(if: TestPaths.data != nil, "needs the data that Scripts/fetch-data fetches"))
    func unchanged() throws {
        let text = try TextEncoder(model: ModelDirectory.open(#require(TestPaths.model)))
        let encoder = try RowEncoder(
            encoder: text, format: .auto, trainedTurns: .all, maximumLength: 1 << 20)
        let file = try PairFile(path: #require(TestPaths.data))
        #expect(file.rows.count == 2274)
        let render = try #require(text.renderChat)
        // What an encoder of version 4 did: the prompt for an answer, the completion, an end.
        let end = try #require(try text.encode("<|im_end|>").first)
        var rows = 0
        for case .pair(let prompt, let completion) in file.rows {
            let question = try text.prepareChat([ChatMessage(role: "user", content: prompt)], nil)
            let before = try text.encode(render(question, 1, true).text)
            let said = try text.encodeAfter(completion, before.last) + [end]
            let row = TokenizedRow(
                number: rows, ids: before + said,
                targets: [before.count..<(before.count + said.count)])
            let draft = try encoder.draft(.pair(prompt: prompt, completion: completion))
            #expect(draft.remarks.isEmpty)
            #expect(TokenizedRow(number: rows, ids: draft.ids, targets: draft.targets) == row)
            rows += 1
        }
        #expect(rows == file.rows.count)
    }
}
