import Foundation
import SkeinFormats
import SkeinModels
import SkeinRowsTestSupport
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows
@testable import SkeinTraining

/// A Llama tokenizer that wants a begin token, against transformers (versions in
/// Tests/Fixtures/bos/make.py), on a random model whose heads together are wider than it is.
@Suite struct BeginTokenTests {
    private struct Goldens: Decodable {
        let texts: [String]
        /// Prompt and completion.
        let pairs: [[String]]
        let text, eos, raw, chat: Rows
        let unnamed: Unnamed
    }

    /// With a tokenizer_config.json that names no begin token.
    private struct Unnamed: Decodable {
        let text, eos, raw, chat: [[Int32]]
        let templates: [Template]

        struct Template: Decodable {
            let source: String
            /// nil: transformers raises an error.
            let text: String?
        }
    }

    private struct Rows: Decodable {
        let ids: [[Int32]]
        let loss: Double
        let lossTokens: Int
        let without: Loss

        struct Loss: Decodable { let loss: Double }

        enum CodingKeys: String, CodingKey {
            case ids, loss, without
            case lossTokens = "loss_tokens"
        }
    }

    private func withModel(_ body: (ModelDirectory, Goldens) throws -> Void) throws {
        let goldens = try JSONDecoder().decode(
            Goldens.self,
            from: Data(contentsOf: URL(fileURLWithPath: TestPaths.fixture("bos/goldens.json"))))
        try TestPaths.withTemporaryDirectory { directory in
            let files = [
                ("bos/config.json", "config.json"), ("bos/model.safetensors", "model.safetensors"),
                ("bos/tokenizer_config.json", "tokenizer_config.json"),
                ("tokenizers/llama3.json", "tokenizer.json"),
            ]
            for (fixture, name) in files {
                try FileManager.default.copyItem(
                    atPath: TestPaths.fixture(fixture), toPath: directory + "/" + name)
            }
            try body(ModelDirectory.open(directory), goldens)
        }
    }

    private func check(
        _ rows: [PairRow], _ format: PromptFormat, _ model: ModelDirectory, _ expected: Rows
    ) throws {
        let encoder = try RowEncoder(
            encoder: TextEncoder(model: model), format: format, trainedTurns: .all,
            maximumLength: 256)
        let encoded = try rows.enumerated().map { number, row in
            let draft = try encoder.draft(row)
            return TokenizedRow(number: number, ids: draft.ids, targets: draft.targets)
        }
        #expect(encoded.map(\.ids) == expected.ids)
        let engine = try MicroBatchEngine(
            model: model, adapter: nil, configuration: TrainingConfiguration.fixed,
            residence: .resident, positions: 256, threads: 1)
        let judged = try RowEvaluation.run(
            encoded, engine: engine, parameters: nil,
            microBatchTokens: 512, threads: DecoderThreads(threadCount: 1))
        let loss = try #require(judged.loss)
        #expect(judged.lossTokens == expected.lossTokens)
        #expect(abs(loss - expected.loss) < 2e-6 * expected.loss, "\(loss) \(expected.loss)")
        #expect(abs(loss - expected.without.loss) > 1e-3)
    }

    @Test("rows of text begin with the token, and the loss is that of transformers")
    func text() throws {
        try withModel { model, goldens in
            // The format of pairs does not matter for texts.
            for format in [PromptFormat.chat, .eos, .raw] {
                try check(goldens.texts.map { .text($0) }, format, model, goldens.text)
            }
        }
    }

    @Test("pairs begin with the token in each format; a template writes its own")
    func pairs() throws {
        try withModel { model, goldens in
            let rows = goldens.pairs.map { PairRow.pair(prompt: $0[0], completion: $0[1]) }
            try check(rows, .eos, model, goldens.eos)
            try check(rows, .raw, model, goldens.raw)
            try check(rows, .chat, model, goldens.chat)
            let turns = goldens.pairs.map {
                PairRow.conversation([
                    ChatTurn(role: "user", content: $0[0]),
                    ChatTurn(role: "assistant", content: $0[1]),
                ])
            }
            try check(turns, .chat, model, goldens.chat)
        }
    }

    @Test("a token that only tokenizer.json names begins texts, and does not exist for a template")
    func unnamed() throws {
        try withModel { model, goldens in
            let path = model.path + "/tokenizer_config.json"
            let named = try String(contentsOfFile: path, encoding: .utf8)
            let told = named.replacing("\"bos_token\": \"<|begin_of_text|>\",", with: "")
            try #require(told != named)
            try told.write(toFile: path, atomically: true, encoding: .utf8)
            let model = try ModelDirectory.open(model.path)
            let text = try TextEncoder(model: model)
            #expect(text.beginToken == "<|begin_of_text|>")
            let unnamed = goldens.unnamed
            let pairs = goldens.pairs.map { PairRow.pair(prompt: $0[0], completion: $0[1]) }
            let texts = goldens.texts.map { PairRow.text($0) }
            for (rows, format, expected) in [
                (texts, PromptFormat.chat, unnamed.text), (pairs, .eos, unnamed.eos),
                (pairs, .raw, unnamed.raw), (pairs, .chat, unnamed.chat),
            ] {
                let encoder = try RowEncoder(
                    encoder: text, format: format, trainedTurns: .all, maximumLength: 256)
                #expect(try rows.map { try encoder.draft($0).ids } == expected, "\(format)")
            }
            let tokenizer = try Tokenizer(model: model.raw)
            for template in unnamed.templates {
                let chat = try ChatTemplate(source: template.source, name: "t")
                func render() throws -> String {
                    try chat.render(
                        [ChatMessage(role: "user", content: "a")], addGenerationPrompt: false,
                        tokens: tokenizer.templateTokens
                    ).text
                }
                if let expected = template.text {
                    #expect(try render() == expected)
                } else {
                    #expect(throws: TemplateError.self) { try render() }
                }
            }
        }
    }

    @Test("a text that begins with the token gets no second one; the digest changes with the token")
    func twice() throws {
        try withModel { model, goldens in
            var text = try TextEncoder(model: model)
            let written = "<|begin_of_text|>" + goldens.texts[0]
            #expect(try text.encodeWhole(written) == text.encodeWhole(goldens.texts[0]))
            #expect(try text.encodeWhole("") == [443] && text.encode("") == [])
            let digest = text.digest
            let path = model.path + "/tokenizer_config.json"
            let told = try String(contentsOfFile: path, encoding: .utf8)
                .replacing("{", with: "{\"add_bos_token\": false,", maxReplacements: 1)
            try told.write(toFile: path, atomically: true, encoding: .utf8)
            text = try TextEncoder(model: ModelDirectory.open(model.path))
            #expect(try text.encodeWhole(goldens.texts[0]) == text.encode(goldens.texts[0]))
            #expect(text.digest != digest)
            #expect(RowEncoder.version == 6)
        }
    }
}
