extension Tokenizer {
    /// The number of tokens; ids are `0..<vocabularySize`.
    package var vocabularySize: Int { pieces.count }

    /// The piece of a token as the vocabulary file spells it, such as "Ġthe"; nil for an id outside
    /// the vocabulary.
    package func piece(_ id: Int32) -> String? {
        contains(id) ? pieces.text(Int(id)) : nil
    }

    /// The id of a piece as the vocabulary file spells it; nil when it is not in there.
    package func id(of piece: String) -> Int32? {
        Self.id(of: piece, in: pieces)
    }

    /// The bytes that a token stands for; none for an id outside the vocabulary. They need not be
    /// whole characters: a streaming reader must wait for the rest.
    package func bytes(of id: Int32) -> [UInt8] {
        contains(id) ? decodings.withString(Int(id)) { Array($0) } : []
    }

    /// The text of tokens. Bytes that are not valid UTF-8 become U+FFFD; ids that are not in the
    /// vocabulary are left out.
    package func decode(_ ids: [Int32], skippingSpecialTokens: Bool = false) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ids.count * 5)
        for id in ids where contains(id) {
            if skippingSpecialTokens && isSpecial[Int(id)] { continue }
            decodings.withString(Int(id)) { bytes.append(contentsOf: $0) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func contains(_ id: Int32) -> Bool {
        id >= 0 && Int(id) < pieces.count
    }

    private static func id(of piece: String, in pieces: TokenTable) -> Int32? {
        var piece = piece
        return piece.withUTF8 { pieces.id(of: $0) }
    }

    /// The end of text and the end-of-turn tokens of the families that have them.
    static func endOfTurnIDs(endID: Int32?, in pieces: TokenTable) -> Set<Int32> {
        let names = ["<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>"]
        return Set(names.compactMap { id(of: $0, in: pieces) } + [endID].compactMap(\.self))
    }
}
