/// Bounds on what a tokenizer definition may hold, each with the arithmetic behind it.
enum TokenizerLimits {
    /// Ids have 21 bits in a slot of the merge table and the all-ones id marks an empty slot:
    /// 2^21 - 1 tokens. The largest published vocabularies have 262,144.
    static let tokens = (1 << 21) - 1

    /// Ranks have 22 bits in a slot of the merge table (21 + 21 + 22 = 64) and the all-ones rank
    /// says "no merge": 2^22 - 1 merges.
    static let merges = (1 << 22) - 1

    /// Bytes of all pieces together: their offsets are 32-bit. 2^21 tokens of 128 bytes on average.
    static let pieceBytes = 1 << 28

    /// Bytes of one added token. It bounds the steps of the search for one at each byte of a text,
    /// and so the time of a hostile file. Real ones have up to 50 bytes.
    static let addedTokenBytes = 512

    /// Bytes of a tokenizer.json: the largest published ones have 35 MB.
    static let fileBytes = 1 << 28

    /// Bytes of one pre-token: its positions are 32-bit, its linked list takes 32 bytes a byte. A
    /// longer one is cut here, which no text of less than a gibibyte can notice.
    static let preTokenBytes = 1 << 30
}
