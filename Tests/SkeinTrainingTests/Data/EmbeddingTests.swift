import Foundation
import SkeinBasics
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows
@testable import SkeinTraining

/// A tokenizer with more ids than its model has embeddings: only rows that use one are refused.
@Suite struct EmbeddingTests {
    private static let good = #"{"text": "the in"}"#
    private static let bad = #"{"text": "the<extra> in"}"#

    /// Calls `body` with a model and the path of a data file.
    private func withModel(
        _ lines: [String], asFolder: Bool = false,
        _ body: (ModelDirectory, String) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var tiny = TinyModel()
            tiny.extraTokens = ["<extra>"]
            let path = directory + (asFolder ? "/tiny" : "/tiny.gguf")
            if asFolder {
                try AtomicFile.makeDirectory(path)
                try tiny.writeHuggingFaceFolder(to: path)
            } else {
                try tiny.writeGGUF(to: path)
            }
            let data = directory + "/rows.jsonl"
            try AtomicFile.write(lines.joined(separator: "\n") + "\n", to: data)
            try body(ModelDirectory.open(path), data)
        }
    }

    private func encoder(_ model: ModelDirectory, maximumLength: Int = 64) throws -> RowEncoder {
        try RowEncoder(
            encoder: TextEncoder(model: model), format: .eos, trainedTurns: .all,
            maximumLength: maximumLength)
    }

    private func error(_ place: String) -> TokenizerError {
        let rows = TinyModel().vocabularySize
        return .noEmbedding(piece: "<extra>", id: rows, rows: rows, place: place)
    }

    @Test("a row with such a token is refused by file and line", arguments: [false, true])
    func place(asFolder: Bool) throws {
        try withModel([Self.good, "", Self.bad], asFolder: asFolder) { model, data in
            let encoder = try encoder(model)
            #expect(throws: error("\(data):3")) { try encoder.encode(PairFile(path: data)) }
            // The line is not malformed, so it is not passed over.
            #expect(throws: error("\(data):3")) {
                try encoder.encode(PairFile(path: data, skippingBadLines: true))
            }
            #expect(throws: error("\(data):3")) {
                try DataStudy(
                    DataFiles(path: data), encoder: encoder,
                    fields: RowFields(), skippingBadLines: false, validationShare: 0, seed: 0)
            }
            #expect(throws: error("--sample-prompt")) {
                try encoder.samplePrompts(["<extra>"], contextLength: 64)
            }
        }
        try withModel([Self.good], asFolder: asFolder) { model, data in
            let encoded = try encoder(model).encode(PairFile(path: data))
            #expect(encoded.rows.count == 1)
        }
    }

    @Test("a token that is cut off with the end of its row needs no embedding")
    func cut() throws {
        try withModel([Self.bad]) { model, data in
            let short = try encoder(model, maximumLength: 2)
            #expect(try short.encode(PairFile(path: data)).rows[0].ids.count == 2)
            let study = try DataStudy(
                DataFiles(path: data), encoder: short,
                fields: RowFields(), skippingBadLines: false, validationShare: 0, seed: 0)
            #expect(study.cut.count == 1)
        }
    }

    @Test("the token cache of a model with more embeddings does not hide such a row")
    func cache() throws {
        try withModel([Self.good, Self.bad]) { model, data in
            let rows = model.configuration.vocabularySize
            let cache = TokenCache(directory: data + ".cache")
            let tokenizer = try Tokenizer(model: model.raw)
            func source(_ embeddings: Int) throws -> TokenSource {
                let limited = tokenizer.embedded(in: embeddings)
                var text = TextEncoder(tokenizer: limited, chat: nil)
                text.digest = TextEncoder.digest(tokenizer: limited, template: nil)
                return TokenSource(
                    encoder: try RowEncoder(
                        encoder: text, format: .eos, trainedTurns: .all, maximumLength: 64),
                    skippingBadLines: false, vocabularySize: embeddings, cache: cache,
                    version: "1")
            }
            var larger = try source(rows + 1)
            #expect(try larger.file(data).encoded.rows.count == 2)
            var again = try source(rows + 9)
            #expect(try again.file(data).encoded.rows.count == 2)
            #expect(again.origin.cachedRows == 2)
            var own = try source(rows)
            #expect(throws: error("\(data):2")) { try own.file(data) }
            #expect(own.origin.warnings.isEmpty)
        }
    }
}
