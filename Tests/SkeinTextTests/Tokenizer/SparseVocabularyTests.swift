import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinText

/// Vocabularies with gaps, repeats and more ids than the model has embeddings, against tokenizers and
/// transformers (Tests/Fixtures/tokenizers/make_sparse.py), and as llama.cpp reads GGUF files.
@Suite struct SparseVocabularyTests {
    struct Golden: Decodable, Sendable, CustomTestStringConvertible {
        let name, file, text, decoded, plain: String
        let configuration: String?
        let ids: [Int32]
        let begin, end: Int32?
        var testDescription: String { name }
    }

    private struct Goldens: Decodable { let cases: [Golden] }

    static let goldens: [Golden] = {
        do {
            return try Fixtures.decode(Goldens.self, "sparse").cases
        } catch {
            preconditionFailure("sparse.json: \(error)")
        }
    }()

    @Test("a sparse vocabulary gives the ids and texts that tokenizers gives", arguments: goldens)
    func same(_ golden: Golden) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let (file, configuration) = (directory + "/t.json", directory + "/c.json")
            try AtomicFile.write(golden.file, to: file)
            if let text = golden.configuration { try AtomicFile.write(text, to: configuration) }
            let tokenizer = try Tokenizer(
                tokenizerJSON: file,
                tokenizerConfig: golden.configuration == nil ? nil : configuration)
            let ids = tokenizer.encode(golden.text)
            #expect(ids == golden.ids)
            #expect(tokenizer.decode(ids) == golden.decoded)
            #expect(tokenizer.decode(ids, skippingSpecialTokens: true) == golden.plain)
            #expect(tokenizer.beginID == golden.begin && tokenizer.endID == golden.end)
        }
    }

    private static func json(_ vocabulary: String, _ added: String) -> String {
        #"{"model": {"type": "BPE", "vocab": {"# + vocabulary + #"}, "merges": ["a b"]},"#
            + #" "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},"#
            + #" "decoder": {"type": "ByteLevel"}, "added_tokens": ["# + added + "]}"
    }

    private static func added(_ id: Int, _ content: String) -> String {
        #"{"id": \#(id), "content": "\#(content)", "special": true}"#
    }

    @Test("files whose ids tokenizers 0.23.3 confuses are taken at their word")
    func stated() throws {
        // It counts from the size of the vocabulary on, and so <u> is 5, too.
        let phi = try Tokenizer(
            Fixtures.definition(
                Self.json(
                    #""a": 0, "b": 1, "ab": 2, "<s>": 5, "<t>": 9"#,
                    [(5, "<s>"), (9, "<t>"), (10, "<u>"), (11, "<v>")].map(Self.added)
                        .joined(separator: ", "))))
        #expect(phi.encode("<s><t><u><v>ab") == [5, 9, 10, 11, 2])
        #expect(phi.vocabularySize == 12 && phi.piece(7) == "" && phi.decode([7]).isEmpty)
        // Where its predecessors would give "a" and <u> the same id, it is right.
        let apart = try Tokenizer(
            Fixtures.definition(
                Self.json(
                    #""a": 11, "b": 7, "ab": 10"#, Self.added(12, "ab") + "," + Self.added(7, "<u>")
                )))
        #expect(apart.encode("<u>aab") == [3, 11, 10])
        // Special tokens before the vocabulary: it gives 3, which is "a".
        let before = try Tokenizer(
            Fixtures.definition(
                Self.json(
                    #""a": 3, "b": 4, "ab": 5"#,
                    [(0, "<s>"), (1, "<t>"), (2, "<u>")].map(Self.added).joined(separator: ", "))))
        #expect(before.encode("<s>ab<u>") == [0, 5, 2])
        // Without a gap, the order of the list does not matter.
        let unsorted = try Tokenizer(
            Fixtures.definition(
                Self.json(
                    #""a": 0, "b": 1, "ab": 2"#, Self.added(4, "<t>") + "," + Self.added(3, "<s>")))
        )
        #expect(unsorted.encode("<s><t>") == [3, 4])
    }

    @Test("a key twice counts once, the last time, and two tokens of one id are refused")
    func keys() throws {
        let twice = try Tokenizer(
            Fixtures.definition(Self.json(#""a": 0, "b": 1, "ab": 2, "a": 5"#, "")))
        #expect(twice.encode("aab") == [5, 2] && twice.vocabularySize == 6)
        #expect(throws: TokenizerError.self) {
            try Fixtures.definition(Self.json(#""a": 0, "b": 0, "ab": 2"#, ""))
        }
    }

    @Test("what is only larger than Skein reads is not called damaged")
    func limits() {
        let error = #expect(throws: TokenizerError.self) {
            try Fixtures.definition(Self.json(#""a": 0, "b": 2097151, "ab": 2"#, ""))
        }
        #expect(error?.explanation.what.hasPrefix("the tokenizer is too large for Skein: ") == true)
        #expect(error?.explanation.remedy == "use a model with a smaller tokenizer")
        let damage = TokenizerError.invalid(.noTokens, source: "t.json").explanation
        #expect(damage.what == "the tokenizer is damaged: its vocabulary is empty")
    }

    // MARK: GGUF

    private static let metadata: [String: GGUFValue] = [
        "tokenizer.ggml.model": .string("gpt2"), "tokenizer.ggml.pre": .string("gpt-2"),
        "tokenizer.ggml.tokens": .strings(["a", "b", "", "ab", "", "<s>"]),
        "tokenizer.ggml.token_type": .integers([1, 1, 5, 1, 5, 3]),
        "tokenizer.ggml.merges": .strings(["a b"]),
    ]

    private static func read(_ key: String, _ value: GGUFValue) throws -> Tokenizer {
        var metadata = metadata
        metadata["tokenizer.ggml." + key] = value
        return try Tokenizer(ggufMetadata: metadata)
    }

    @Test("unused tokens of a GGUF file may be empty, any number of them")
    func emptyTokens() throws {
        let tokenizer = try Tokenizer(ggufMetadata: Self.metadata)
        #expect(tokenizer.encode("aab<s>") == [0, 3, 5])
        #expect(tokenizer.decode([0, 2, 4, 3]) == "aab" && tokenizer.id(of: "") == nil)
        #expect(tokenizer.writtenTokens == [[97], [98], nil, [97, 98], nil, nil])
        for (name, bytes) in try TokenizerAsFiles.files(Self.metadata)
        where name == "tokenizer.json" {
            let again = try Tokenizer(Fixtures.definition(String(decoding: bytes, as: UTF8.self)))
            #expect(again.encode("aab<s>") == [0, 3, 5])
        }
    }

    @Test("what llama.cpp passes over in GGUF metadata is passed over here")
    func lenient() throws {
        #expect(try Self.read("bos_token_id", .unsigned(6)).beginID == nil)
        #expect(try Self.read("eos_token_id", .unsigned(.max)).endID == nil)
        let longer = try Self.read("token_type", .integers([1, 1, 5, 1, 5, 3, 3]))
        #expect(longer.encode("ab<s>") == [3, 5])
        let odd = try Self.read("token_type", .integers([1, 1, 9, 1, 0, 3]))
        #expect(odd.encode("ab<s>") == [3, 5])
        var repeated = Self.metadata
        repeated["tokenizer.ggml.tokens"] = .strings(["a", "b", "c", "ab", "bc", "<s>"])
        repeated["tokenizer.ggml.merges"] = .strings(["a b", "b c", "a b"])
        let first = try Tokenizer(ggufMetadata: repeated)
        // The earlier of equal merges counts, and the later one in tokenizers.
        #expect(first.encode("abc") == [3, 2])
        repeated["tokenizer.ggml.merges"] = .strings(["a b", "b c"])
        #expect(try Tokenizer(ggufMetadata: repeated).contentDigest == first.contentDigest)
        let duplicate = TokenizerError.invalid(
            .duplicateToken("b", first: 1, second: 2), source: "GGUF metadata")
        #expect(throws: duplicate) {
            try Self.read("tokens", .strings(["a", "b", "b", "ab", "", "<s>"]))
        }
    }

    // MARK: Embeddings

    @Test("a text with a token that the model has no embedding for is refused, no other is")
    func embeddings() throws {
        let all = try Fixtures.tokenizer("smollm")
        let end = try #require(all.id(of: "<|im_end|>"))
        #expect(all.usableCount == all.vocabularySize && all.fewerEmbeddings == nil)
        let count = all.vocabularySize - 3
        let last = Int32(count)
        let some = all.embedded(in: count)
        #expect(some.usableCount == count && some.fewerEmbeddings == count)
        #expect(some.vocabularySize == all.vocabularySize)
        #expect(some.contentDigest == all.contentDigest)
        #expect(some.writtenTokens == Array(all.writtenTokens.prefix(count)))
        #expect(some.encode("the lamp<|im_end|>") == all.encode("the lamp<|im_end|>"))
        let piece = try #require(all.piece(last))
        #expect(all.encode(all.decode([last])).contains(last))
        let error = TokenizerError.noEmbedding(piece: piece, id: count, rows: count)
        #expect(throws: error) { try some.ids(of: all.decode([last])) }
        #expect(throws: error) { try some.check([0, last]) }
        #expect(some.segments(of: Array(all.decode([last]).utf8), after: nil).isEmpty)
        #expect(all.embedded(in: Int(end)).endOfTurnIDs == [0])
        #expect(some.embedded(in: nil).encode(all.decode([last])).contains(last))
        #expect(all.embedded(in: count + 9).fewerEmbeddings == nil)
        #expect(
            error.at("d.jsonl:7").explanation
                == Explanation(
                    what: "the text has the token \(piece.debugDescription), whose id is \(count),"
                        + " and the model has embeddings for the ids 0 to \(count - 1) only",
                    place: "d.jsonl:7",
                    remedy: "leave this token out of the text, or use a model that has an embedding"
                        + " for it", status: .badData))
    }

    @Test("a GGUF file gets as many tokens as the model has embeddings, and a name for each hole")
    func export() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let file = directory + "/tokenizer.json"
            try AtomicFile.write(
                Self.json(
                    #""a": 0, "b": 1, "ab": 2, "<s>": 5, "<t>": 7"#,
                    Self.added(5, "<s>") + ", " + Self.added(7, "<t>")), to: file)
            func tokens(_ rows: Int) throws -> [String] {
                let entries = try TokenizerAsGGUF.metadata(
                    of: .files(tokenizerJSON: file, tokenizerConfig: nil), path: directory,
                    vocabularySize: rows)
                for case ("tokenizer.ggml.tokens", .strings(let tokens)) in entries {
                    return tokens
                }
                return []
            }
            #expect(try tokens(7) == ["a", "b", "ab", "[PAD3]", "[PAD4]", "<s>", "[PAD6]"])
            #expect(try tokens(9).suffix(2) == ["<t>", "[PAD8]"])
            // Merges would be left that make it.
            #expect(throws: TokenizerError.self) { try tokens(2) }
        }
    }
}
