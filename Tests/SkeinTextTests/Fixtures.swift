import Foundation
import SkeinTestSupport

@testable import SkeinText

/// The small tokenizers of Tests/Fixtures/tokenizers, made by make_fixtures.py there.
enum Fixtures {
    static let names = ["gpt2", "smollm", "llama3", "qwen2", "prefix", "tekken", "o200k"]

    static func tokenizer(_ name: String) throws -> Tokenizer {
        try Tokenizer(tokenizerJSON: path(name), tokenizerConfig: nil)
    }

    static func path(_ name: String) -> String {
        TestPaths.fixture("tokenizers/\(name).json")
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// Reads a definition from the text of a tokenizer.json called "t.json".
    static func definition(_ json: String) throws -> TokenizerDefinition {
        let file = try TokenizerFile.read(Array(json.utf8), source: "t.json")
        return try TokenizerDefinition(file, source: "t.json")
    }
}

/// Numbers from a seed (SplitMix64), so that a failure can be replayed.
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
