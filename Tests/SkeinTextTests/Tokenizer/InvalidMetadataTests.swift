import SkeinBasics
import SkeinFormats
import Testing

@testable import SkeinText

@Suite struct InvalidMetadataTests {
    private static let valid: [String: GGUFValue] = [
        "general.architecture": .string("llama"),
        "tokenizer.ggml.model": .string("gpt2"),
        "tokenizer.ggml.pre": .string("gpt-2"),
        "tokenizer.ggml.tokens": .strings(["a", "b", "ab", "<s>", "<t>", "<pad>"]),
        "tokenizer.ggml.token_type": .integers([1, 1, 1, 3, 4, 5]),
        "tokenizer.ggml.merges": .strings(["a b"]),
    ]

    struct Case: Sendable, CustomTestStringConvertible {
        let key: String
        let value: GGUFValue?
        let error: TokenizerError
        var testDescription: String { "\(key): \(error)" }

        init(_ key: String, _ value: GGUFValue?, _ flaw: TokenizerError.Flaw) {
            self.key = key
            self.value = value
            error = .invalid(flaw, source: "GGUF metadata")
        }

        init(_ key: String, _ value: GGUFValue?, _ feature: TokenizerError.Feature) {
            self.key = key
            self.value = value
            error = .unsupported(feature, source: "GGUF metadata")
        }
    }

    private static func wrongType(_ key: String, _ expected: String) -> TokenizerError.Flaw {
        .wrongType(path: "tokenizer.ggml." + key, expected: expected)
    }

    private static let cases: [Case] = [
        Case("model", nil, .missingValue(path: "tokenizer.ggml.model")),
        Case("model", .string("bert"), .model("bert")),
        Case("model", .bool(true), wrongType("model", "a text")),
        Case("pre", nil, .preTokenizer(nil)),
        Case("pre", .string("default"), .preTokenizer("default")),
        Case("pre", .unsigned(1), wrongType("pre", "a text")),
        Case("tokens", nil, .missingValue(path: "tokenizer.ggml.tokens")),
        Case("tokens", .integers([1]), wrongType("tokens", "a list of texts")),
        Case(
            "tokens", .strings(["a", "b", "ab", "<s>", "<t>", "b"]),
            .duplicateToken("b", first: 1, second: 5)),
        Case(
            "tokens", .strings(["a", "b", "ab", "<s>", "<t>", "<pad>", "c"]),
            .countMismatch(path: "tokenizer.ggml.token_type", expected: 7, found: 6)),
        Case("token_type", .strings([]), wrongType("token_type", "a list of whole numbers")),
        Case("merges", nil, .missingValue(path: "tokenizer.ggml.merges")),
        Case("merges", .strings(["a b", "b b"]), .unknownMergeToken(rank: 1, piece: "bb")),
        Case(
            "merges", .strings([String](repeating: "", count: 1 << 22)),
            .tooManyMerges(found: 4_194_304, limit: 4_194_303)),
        Case(
            "eos_token_id", .integer(-1),
            .idOutOfRange(piece: "tokenizer.ggml.eos_token_id", id: -1, limit: 6)),
        Case("eos_token_id", .string("2"), wrongType("eos_token_id", "a whole number")),
        Case("add_bos_token", .unsigned(1), wrongType("add_bos_token", "true or false")),
    ]

    @Test("a contradiction in GGUF metadata is refused", arguments: cases)
    func metadata(_ test: Case) throws {
        var metadata = Self.valid
        metadata["tokenizer.ggml." + test.key] = test.value
        #expect(throws: test.error) { try Tokenizer(ggufMetadata: metadata) }
    }

    @Test("a vocabulary that is empty or larger than ids can count is refused")
    func sizes() {
        func error(_ tokens: [String]) -> TokenizerError? {
            var metadata = Self.valid
            metadata["tokenizer.ggml.tokens"] = .strings(tokens)
            metadata["tokenizer.ggml.token_type"] = nil
            return #expect(throws: TokenizerError.self) { try Tokenizer(ggufMetadata: metadata) }
        }
        #expect(error([]) == .invalid(.noTokens, source: "GGUF metadata"))
        let many = [String](repeating: "", count: 1 << 21)
        #expect(
            error(many)
                == .invalid(
                    .tooManyTokens(found: 2_097_152, limit: 2_097_151), source: "GGUF metadata"))
    }

    @Test("the valid form of the same metadata is read")
    func valid() throws {
        let tokenizer = try Tokenizer(ggufMetadata: Self.valid)
        #expect(tokenizer.encode("ab<s><t><pad>") == [2, 3, 4, 0])  // of "<pad>" only "a"
        #expect(tokenizer.encode("<s><t>", parsingSpecialTokens: false) == [4])
        #expect(tokenizer.beginID == nil && tokenizer.endID == nil && !tokenizer.addsBeginToken)
        #expect(tokenizer.templateTokens == TemplateTokens(begin: "", end: ""))
        #expect(tokenizer.decode([2, 3, 4, 5], skippingSpecialTokens: true) == "ab<t><pad>")
    }

    @Test("errors say what, where and how to fix it")
    func prose() {
        let merge = TokenizerError.invalid(
            .unknownMergeToken(rank: 7, piece: "Ġ\u{7}the"), source: "m/tokenizer.json")
        #expect(
            merge.explanation
                == Explanation(
                    what: "the tokenizer is damaged: merge 7 needs the token \"Ġ\\u{07}the\", which"
                        + " the vocabulary lacks",
                    place: "m/tokenizer.json",
                    remedy: "fetch the model's files again, all from the same revision",
                    status: .badData))
        let pre = TokenizerError.unsupported(.preTokenizer("afmoe"), source: "GGUF metadata")
        #expect(
            pre.explanation
                == Explanation(
                    what: "the pre-tokenizer \"afmoe\" is not supported", place: "GGUF metadata",
                    remedy: "use a model with one of the pre-tokenizers "
                        + (PreTokenizer.namesInGGUF + PreTokenSteps.namesInGGUF)
                        .joined(separator: ", "),
                    status: .badData))
        for test in Self.cases {
            let explanation = test.error.explanation
            #expect(!explanation.what.isEmpty && !explanation.remedy.isEmpty)
        }
    }
}
