/// How text is cut into pre-tokens, the units that byte pair encoding never merges across.
///
/// Each is one of the regular expressions that published models were trained with;
/// `PreTokenScanner` explains them.
enum PreTokenizer: String, Sendable, CaseIterable {
    case gpt2 = "gpt-2"
    /// Digits alone, then GPT-2 on what is between them.
    case smollm
    case llama3 = "llama-bpe"
    case qwen2
    /// Mistral's: letters are cut before a capital.
    case tekken
    /// GPT-4o's: likewise, and contractions stay with their word.
    case o200k = "gpt-4o"
    /// The whole text is one pre-token.
    case whole

    /// The expression of GPT-2, in its original and in its later, shorter spelling.
    private static let gpt2Patterns = [
        #"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"#,
        #"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"#,
    ]

    /// The expression of Llama 3 (and Qwen 2) with its number alternative.
    private static func llama3Pattern(numbers: String) -> String {
        #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"# + numbers
            + #"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    }

    /// The expression of tekken, or with a contraction after letters of o200k.
    private static func casedPattern(suffix: String, numbers: String) -> String {
        let prefix = #"[^\r\n\p{L}\p{N}]?"#
        let capitals = #"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"#
        let small = #"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"#
        return prefix + capitals + "*" + small + "+" + suffix + "|" + prefix + capitals + "+"
            + small + "*" + suffix + "|" + numbers
            + #"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"#
    }

    /// The expression of a pre-tokenizer that is one; nil: ByteLevel has its own, or there is none.
    var pattern: String? {
        switch self {
        case .llama3: Self.llama3Pattern(numbers: #"\p{N}{1,3}"#)
        case .qwen2: Self.llama3Pattern(numbers: #"\p{N}"#)
        case .tekken: Self.casedPattern(suffix: "", numbers: #"\p{N}"#)
        case .o200k:
            Self.casedPattern(
                suffix: "(?i:'s|'t|'re|'ve|'m|'ll|'d)?", numbers: #"\p{N}{1,3}"#)
        case .gpt2, .smollm, .whole: nil
        }
    }

    /// The pre-tokenizer with exactly this regular expression, or nil.
    init?(pattern: String) {
        if Self.gpt2Patterns.contains(pattern) {
            self = .gpt2
        } else if pattern == Self.llama3Pattern(numbers: #"\p{N}{1,3}"#) {
            self = .llama3
        } else if pattern == Self.llama3Pattern(numbers: #"\p{N}"#) {
            self = .qwen2
        } else if pattern == Self.casedPattern(suffix: "", numbers: #"\p{N}"#) {
            self = .tekken
        } else if pattern
            == Self.casedPattern(
                suffix: "(?i:'s|'t|'re|'ve|'m|'ll|'d)?", numbers: #"\p{N}{1,3}"#)
        {
            self = .o200k
        } else {
            return nil
        }
    }

    /// The supported names in `tokenizer.ggml.pre`, and what they mean. llama.cpp has several names
    /// for one expression.
    private static let gguf: [(name: String, preTokenizer: PreTokenizer)] = [
        ("gpt-2", .gpt2), ("phi-2", .gpt2), ("smollm", .smollm), ("starcoder", .smollm),
        ("llama-bpe", .llama3), ("llama3", .llama3), ("llama-v3", .llama3), ("qwen2", .qwen2),
        ("deepseek-r1-qwen", .qwen2), ("refact", .smollm), ("olmo", .gpt2), ("dbrx", .llama3),
        ("smaug-bpe", .llama3), ("tekken", .tekken), ("gpt-4o", .o200k),
    ]

    /// The supported names in GGUF files.
    static var namesInGGUF: [String] { gguf.map(\.name) }

    /// The pre-tokenizer that `name` means in a GGUF file, or nil.
    init?(gguf name: String) {
        guard let entry = Self.gguf.first(where: { $0.name == name }) else { return nil }
        self = entry.preTokenizer
    }
}
