/// Everything that defines a byte-level BPE tokenizer, whatever file it was read from.
///
/// Readers check types and ids. `TokenTable` and `BytePairEncoding` check whether the vocabulary
/// and the merges agree, when a `Tokenizer` is made.
struct TokenizerDefinition: Sendable {
    /// A token that is cut out of the text before anything else happens to it.
    struct AddedToken: Sendable, Equatable {
        var id: Int32
        /// Marks structure (a turn, the end), not text.
        var isSpecial = false
        /// Matched in the normalized text, after those that are matched in the raw one.
        var isNormalized = false
        /// Matched only between characters that are not part of a word.
        var isSingleWord = false
        /// Swallows the white space before it.
        var stripsLeft = false
        /// Swallows the white space after it.
        var stripsRight = false
    }

    /// What happens to the text between added tokens before it is cut into pre-tokens.
    enum Normalizer: String, Sendable {
        case none
        /// Unicode normalization form C.
        case composed = "NFC"
    }

    /// Where it was read: the file, or "GGUF metadata". For errors.
    var source: String
    /// The vocabulary by id. Ordinary tokens are spelled in the byte alphabet, added ones as is.
    var pieces: [String]
    var addedTokens: [AddedToken] = []
    /// "left right", the most urgent first.
    var merges: [String]
    var preTokenizer: PreTokenizer
    /// Puts a space before every stretch of text that does not begin with one.
    var addsPrefixSpace = false
    var normalizer = Normalizer.none
    /// A pre-token in the vocabulary is that token, whatever the merges would make of it.
    var ignoresMerges = false
    /// Stands for a byte that the vocabulary lacks; nil: such bytes are dropped.
    var unknownID: Int32?
    /// One unknown token for a run of such bytes.
    var fusesUnknown = false
    var beginID: Int32?
    var endID: Int32?
    /// Whether the model expects `beginID` before every text.
    var addsBeginToken = false
    /// What a chat template sees as `bos_token` and `eos_token`.
    var templateTokens = TemplateTokens()
}
