import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinText

/// Every way in which a definition can be wrong, and the error that says so.
@Suite struct InvalidDefinitionTests {
    private static let valid = #"""
        {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "normalizer": null,
        "decoder": {"type": "ByteLevel"}, "added_tokens": [{"id": 3, "content": "<s>"}]}
        """#

    struct Case: Sendable, CustomTestStringConvertible {
        let old: String
        let new: String
        let error: TokenizerError
        var testDescription: String { new }

        init(_ old: String, _ new: String, _ flaw: TokenizerError.Flaw) {
            self.old = old
            self.new = new
            error = .invalid(flaw, source: "t.json")
        }

        init(_ old: String, _ new: String, _ feature: TokenizerError.Feature) {
            self.old = old
            self.new = new
            error = .unsupported(feature, source: "t.json")
        }
    }

    private static let byteLevel = #"{"type": "ByteLevel", "add_prefix_space": false}"#
    private static let noRegex = byteLevel.replacing("}", with: #", "use_regex": false}"#)

    private static func split(
        _ regex: String, _ rest: String = #""behavior": "Isolated", "invert": false"#
    ) -> String {
        #"{"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": ""#
            + regex + "\"}, \(rest)}, \(noRegex)]}"
    }

    private static let flaws: [Case] = [
        Case(
            "{\"model\"", "\"model\"",
            .notJSON("line 1, byte 7: nothing after the value was expected")),
        Case("\"model\"", "\"modal\"", .missingValue(path: "model")),
        Case("\"vocab\"", "\"vocal\"", .missingValue(path: "model.vocab")),
        Case("\"merges\"", "\"merge\"", .missingValue(path: "model.merges")),
        Case(": 1", ": \"1\"", .wrongType(path: "model.vocab.b", expected: "a whole number")),
        Case(": 1", ": 1.5", .wrongType(path: "model.vocab.b", expected: "a whole number")),
        Case(": 1", ": true", .wrongType(path: "model.vocab.b", expected: "a whole number")),
        Case(": 1", ": 1e40", .wrongType(path: "model.vocab.b", expected: "a whole number")),
        Case("\"BPE\"", "7", .wrongType(path: "model.type", expected: "a text")),
        Case("[\"a b\"]", "7", .wrongType(path: "model.merges", expected: "a list")),
        Case("[\"a b\"]", "[7]", .wrongType(path: "model.merges[0]", expected: "a text")),
        Case(
            "[\"a b\"]", "[[\"a\"]]",
            .wrongType(path: "model.merges", expected: "a list of pairs of texts")),
        Case(
            "[\"a b\"]", "[[\"a\", 7]]",
            .wrongType(path: "model.merges[0][1]", expected: "a text")),
        Case(
            "[\"a b\"]", "[[\"a\", \"b\"], 7]",
            .wrongType(path: "model.merges[1]", expected: "a list")),
        Case(
            "\"id\": 3", "\"id\": 3.5",
            .wrongType(path: "added_tokens[0].id", expected: "a whole number")),
        Case(
            "\"merges\"", "\"dropout\": NaN, \"merges\"",
            .wrongType(path: "model.dropout", expected: "a finite number")),
        Case("\"id\": 3, ", "", .missingValue(path: "added_tokens[0].id")),
        Case(": 1", ": -1", .idOutOfRange(piece: "b", id: -1, limit: 2_097_151)),
        Case(": 1", ": 2097151", .idOutOfRange(piece: "b", id: 2_097_151, limit: 2_097_151)),
        Case(": 1", ": 0", .duplicateID(0, first: "a", second: "b")),
        Case(
            "<s>", String(repeating: "s", count: 513),
            .addedTokenTooLong(id: 3, bytes: 513, limit: 512)),
        Case("a b\"", "ab\"", .malformedMerge(rank: 0, text: "ab")),
        Case("a b\"", " b\"", .malformedMerge(rank: 0, text: " b")),
        Case("a b\"", "a \"", .malformedMerge(rank: 0, text: "a ")),
        Case("a b\"", "a  b\"", .malformedMerge(rank: 0, text: "a  b")),
        Case("a b\"", "\"", .malformedMerge(rank: 0, text: "")),
        Case("a b\"", "a b\", \"a c\"", .unknownMergeToken(rank: 1, piece: "c")),
        Case("a b\"", "c b\"", .unknownMergeToken(rank: 0, piece: "c")),
        Case("a b\"", "b a\"", .unknownMergeToken(rank: 0, piece: "ba")),
    ]

    private static let unsupported: [Case] = [
        Case("\"BPE\"", "\"WordPiece\"", .model("WordPiece")),
        // tokenizers reads it and fails for a text with another byte.
        Case(
            "\"merges\"", "\"unk_token\": \"?\", \"merges\"",
            .option(name: "unk_token", value: "?")),
        Case(
            "\"merges\"", "\"byte_fallback\": true, \"merges\"",
            .option(name: "byte_fallback", value: "true")),
        Case("\"merges\"", "\"dropout\": 0.5, \"merges\"", .option(name: "dropout", value: "0.5")),
        Case(
            "\"merges\"", "\"end_of_word_suffix\": \"</w>\", \"merges\"",
            .option(name: "end_of_word_suffix", value: "</w>")),
        Case(
            "\"merges\"", "\"continuing_subword_prefix\": \"##\", \"merges\"",
            .option(name: "continuing_subword_prefix", value: "##")),
        Case("\"normalizer\": null", "\"normalizer\": {\"type\": \"Nfkc\"}", .normalizer("Nfkc")),
        Case(
            "\"normalizer\": null",
            #""normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "BertNormalizer"}]}"#,
            .normalizer("BertNormalizer")),
        Case("{\"type\": \"ByteLevel\"}", "{\"type\": \"Metaspace\"}", .decoder("Metaspace")),
        Case(byteLevel, "null", .preTokenizer(nil)),
        Case(byteLevel, #"{"type": "Sequence", "pretokenizers": []}"#, .preTokenizer(nil)),
        Case(byteLevel, #"{"type": "Whitespace"}"#, .preTokenizer("Whitespace")),
        Case(byteLevel, #"{"type": "Digits", "individual_digits": true}"#, .preTokenizer("Digits")),
        Case(
            byteLevel,
            #"{"type": "Sequence", "pretokenizers": [{"type": "Metaspace"}, "# + byteLevel + "]}",
            .preTokenizer("Metaspace")),
        Case(
            byteLevel,
            #"{"type": "Sequence", "pretokenizers": ["# + byteLevel + ", " + byteLevel + "]}",
            .preTokenizer("ByteLevel twice")),
        Case(
            byteLevel, split(".*", "\"behavior\": \"Kept\""),
            .option(name: "behavior", value: "Kept")),
        Case(
            byteLevel, split(#"(a)\\1"#, "\"behavior\": \"Isolated\""),
            .expression(#"(a)\1"#, .construct(#"\1"#, at: 3))),
    ]

    @Test("a contradiction in tokenizer.json is refused", arguments: flaws + unsupported)
    func json(_ test: Case) throws {
        #expect(Self.valid.contains(test.old))
        let text = Self.valid.replacing(test.old, with: test.new, maxReplacements: 1)
        #expect(throws: test.error) { try Tokenizer(Fixtures.definition(text)) }
    }

    @Test("the valid form of the same file is read")
    func valid() throws {
        let tokenizer = try Tokenizer(Fixtures.definition(Self.valid))
        #expect(tokenizer.encode("ab<s>ba") == [2, 3, 1, 0])
        for merges in ["[[\"a\", \"b\"]]", "[\"a b\"]"] {
            let text = Self.valid.replacing("[\"a b\"]", with: merges)
            #expect(try Fixtures.definition(text).merges == ["a b"])
        }
        let none = Self.valid.replacing("[\"a b\"]", with: "[]")
        #expect(try Tokenizer(Fixtures.definition(none)).encode("ab") == [0, 1])
    }

    @Test("a known expression with another behaviour is not taken for the known one")
    func splitBehaviour() throws {
        let regex =
            #"'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"#
        func definition(_ rest: String) throws -> TokenizerDefinition {
            try Fixtures.definition(
                Self.valid.replacing(Self.byteLevel, with: Self.split(regex, rest)))
        }
        #expect(try definition("\"behavior\": \"Isolated\"").preTokenizer == .gpt2)
        #expect(
            try definition("\"behavior\": \"Removed\", \"invert\": true").preTokenizer == .gpt2)
        #expect(
            try definition("\"behavior\": \"MergedWithNext\"").preTokenSteps?.steps.map(\.behavior)
                == [.mergedWithNext])
        let removed = try Tokenizer(definition("\"behavior\": \"Removed\""))
        #expect(removed.encode("ab ab") == [])
    }

    @Test("a file that is missing, cut or too large is refused")
    func files() throws {
        #expect(
            throws: FileError.failed(operation: "open", path: "/nonexistent/t.json", code: ENOENT)
        ) {
            try Tokenizer(tokenizerJSON: "/nonexistent/t.json", tokenizerConfig: nil)
        }
        for length in 0..<Self.valid.utf8.count {
            let error = #expect(throws: TokenizerError.self) {
                try Fixtures.definition(String(Self.valid.prefix(length)))
            }
            guard case .invalid(.notJSON, source: "t.json") = error else {
                Issue.record("\(length): \(String(describing: error))")
                continue
            }
        }
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/t.json"
            try AtomicFile.write("", to: path)
            // A hole of that size takes no space on the disk.
            let bytes = TokenizerLimits.fileBytes + 1
            #expect(truncate(path, bytes) == 0)
            #expect(
                throws: TokenizerError.fileTooLarge(
                    path: path, bytes: bytes, limit: TokenizerLimits.fileBytes)
            ) {
                try Tokenizer(tokenizerJSON: path, tokenizerConfig: nil)
            }
        }
    }
}
