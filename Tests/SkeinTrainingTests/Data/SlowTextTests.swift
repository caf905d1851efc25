import Foundation
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows
@testable import SkeinTraining

/// A tokenizer whose expression needs more room for a row than it may take.
@Suite struct SlowTextTests {
    @Test("a row that takes too long is refused with its file and line, and not cut otherwise")
    func place() throws {
        try TestPaths.withTemporaryDirectory { directory in
            for name in ["config.json", "model.safetensors", "tokenizer_config.json"] {
                try FileManager.default.copyItem(
                    atPath: TestPaths.fixture("bos/" + name), toPath: directory + "/" + name)
            }
            let file = try Data(
                contentsOf: URL(fileURLWithPath: TestPaths.fixture("tokenizers/llama3.json")))
            var text = try #require(String(data: file, encoding: .utf8))
            let start = try #require(text.range(of: #""Regex":""#)).upperBound
            let end = try #require(text.range(of: #"\\s+"}"#, range: start..<text.endIndex))
            text.replaceSubrange(start..<text.index(end.upperBound, offsetBy: -2), with: "(?:a|b)+")
            try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/tokenizer.json"))
            // One choice for each byte.
            let long = String(repeating: "b", count: 1 << 22)
            let rows = directory + "/rows.jsonl"
            try Data(#"{"text":"abba"}\#n\#n{"text":"\#(long)"}\#n"#.utf8)
                .write(to: URL(fileURLWithPath: rows))

            let model = try ModelDirectory.open(directory)
            let encoder = try TextEncoder(model: model)
            let expected = TokenizerError.textTooSlow(
                expression: "(?:a|b)+", bytes: long.utf8.count)
            #expect(throws: expected) { try encoder.encode(long) }
            let rowEncoder = try RowEncoder(
                encoder: encoder, format: .eos, trainedTurns: .all, maximumLength: 64)
            #expect(
                throws: TokenizerError.textTooSlow(
                    expression: "(?:a|b)+", bytes: long.utf8.count, place: "\(rows):3")
            ) { try rowEncoder.encode(PairFile(path: rows, skippingBadLines: true)) }
        }
    }
}
